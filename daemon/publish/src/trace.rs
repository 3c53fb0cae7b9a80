//! The trace: every event as a line of JSON in a file, for those who look afterwards.

mod file;
mod lines;

pub use file::{TraceError, TraceFile};

use crate::Subscription;

/// The most events in one write.
const BATCH: usize = 256;

/// Writes the events of `events` to `file` until the bus is closed. Run it as a task of its own.
///
/// It is a reader like any other: publishing never waits for it, and when the disk does not keep up
/// the file says so with a `dropped` line. Live output is left out, since it is never stored.
pub async fn trace(mut events: Subscription, mut file: TraceFile) {
    while let Some(first) = events.next().await {
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Some(event) = events.try_next()
        {
            batch.push(event);
        }
        // The file system may be slow; the workers of the runtime must not be.
        let written = tokio::task::spawn_blocking(move || {
            file.write(&batch);
            file
        });
        match written.await {
            Ok(back) => file = back,
            // The runtime is going down.
            Err(_) => return,
        }
    }
}

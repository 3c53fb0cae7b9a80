//! The trace: every event as a line of JSON in a file, for those who look afterwards.

mod file;

use harness_model::{Event, EventBody};

pub use file::{TraceError, TraceFile};

use crate::Subscription;

/// The most events in one write.
const BATCH: usize = 256;

/// Writes the events of `events` to `file` until the bus is closed. Run it as a task of its own.
///
/// It is a reader like any other: publishing never waits for it, and when the disk does not keep up
/// the file says so with a `dropped` line. Live output is left out, since it is never stored.
pub async fn trace(mut events: Subscription, mut file: TraceFile) {
    let mut unwritten = 0_u64;
    while let Some(first) = events.next().await {
        let mut lines = Vec::new();
        let mut count = 0;
        if unwritten > 0 {
            add(
                &mut lines,
                &Event {
                    seq: first.seq.saturating_sub(1),
                    at: first.at,
                    body: EventBody::Dropped { count: unwritten },
                },
            );
        }
        let mut next = Some(first);
        while let Some(event) = next {
            count += add(&mut lines, &event);
            next = if count < BATCH as u64 {
                events.try_next()
            } else {
                None
            };
        }
        // The file system may be slow; the workers of the runtime must not be.
        let written = tokio::task::spawn_blocking(move || {
            let outcome = file.append(&lines);
            (file, outcome)
        });
        let Ok((back, outcome)) = written.await else {
            return;
        };
        file = back;
        match outcome {
            Ok(()) => unwritten = 0,
            Err(error) => {
                if unwritten == 0 {
                    let source = &error.source;
                    tracing::warn!(%error, %source, "events are missing in the trace");
                }
                unwritten += count;
            }
        }
    }
}

/// Adds an event's line; says how many events that accounts for.
fn add(lines: &mut Vec<u8>, event: &Event) -> u64 {
    let whole = lines.len();
    let lost = match &event.body {
        EventBody::ShellOutput { .. } => return 0,
        EventBody::Dropped { count } => *count,
        EventBody::ToolCall { .. }
        | EventBody::ToolResult { .. }
        | EventBody::UnitChanged(_)
        | EventBody::Wake(_) => 1,
    };
    match serde_json::to_writer(&mut *lines, event) {
        Ok(()) => lines.push(b'\n'),
        Err(error) => {
            lines.truncate(whole);
            tracing::warn!(%error, seq = event.seq, "an event has no JSON form and is not in the trace");
        }
    }
    lost
}

#[cfg(test)]
mod tests;

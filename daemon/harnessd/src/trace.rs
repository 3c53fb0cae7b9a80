//! `trace = true`: every event also goes to `trace.ndjson`.

use std::{sync::Arc, time::Duration};

use harness_publish::{Subscription, TraceFile, trace};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::harness::Harness;

/// How large the file grows before it moves aside, in bytes; three old ones are kept.
const MAX_BYTES: u64 = 16 << 20;

/// How long the last events may take to be written.
const LAST: Duration = Duration::from_secs(5);

/// The writer of the trace, which the configuration switches on and off.
pub(crate) struct Trace {
    harness: Arc<Harness>,
    writer: JoinHandle<()>,
    closing: CancellationToken,
}

impl Trace {
    /// Begins at once, so that no event is missed.
    pub(crate) fn start(harness: &Arc<Harness>) -> Self {
        let closing = CancellationToken::new();
        let changes = harness.reconfigured();
        let events = subscribed(harness);
        let (writing, closed) = (harness.clone(), closing.clone());
        Self {
            harness: harness.clone(),
            writer: tokio::spawn(async move {
                run(&writing, changes, events, &closed).await;
            }),
            closing,
        }
    }

    /// Closes the bus and writes what was published until now.
    pub(crate) async fn finish(self) {
        self.harness.bus().close();
        self.closing.cancel();
        if tokio::time::timeout(LAST, self.writer).await.is_err() {
            tracing::warn!("the last events are not in the trace: they took longer than {LAST:?}");
        }
    }
}

fn wanted(harness: &Harness) -> bool {
    harness.in_force().loaded.config.trace
}

fn subscribed(harness: &Harness) -> Option<Subscription> {
    wanted(harness).then(|| harness.bus().subscribe_without_output(None))
}

async fn run(
    harness: &Harness,
    mut changes: watch::Receiver<()>,
    mut events: Option<Subscription>,
    closing: &CancellationToken,
) {
    loop {
        let file = events
            .take()
            .map(|events| (events, TraceFile::open(&harness.places.trace(), MAX_BYTES)));
        match file {
            Some((events, Ok(file))) => tokio::select! {
                // Ends with the bus, after the last event.
                () = trace(events, file) => return,
                () = switched(harness, &mut changes, false) => {}
            },
            Some((_, Err(error))) => {
                tracing::error!(source = %error.source, "there is no trace: {error}");
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = changed(&mut changes) => {}
                }
            }
            None => tokio::select! {
                () = closing.cancelled() => return,
                () = switched(harness, &mut changes, true) => {}
            },
        }
        events = subscribed(harness);
    }
}

/// Resolves when the configuration wants it so.
async fn switched(harness: &Harness, changes: &mut watch::Receiver<()>, on: bool) {
    while wanted(harness) != on {
        changed(changes).await;
    }
}

async fn changed(changes: &mut watch::Receiver<()>) {
    if changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

//! `trace = true`: every event also goes to `trace.ndjson`.

use std::sync::Arc;

use harness_publish::{Subscription, TraceFile, trace};
use tokio::{sync::watch, task::JoinHandle};

use crate::harness::Harness;

/// How large the file grows before it moves aside, in bytes; three old ones are kept.
const MAX_BYTES: u64 = 16 << 20;

/// Begins at once, so that no event is missed; ends when the bus is closed, with all that was published.
pub(crate) fn start(harness: &Arc<Harness>) -> JoinHandle<()> {
    let changes = harness.reconfigured();
    let events = wanted(harness).then(|| harness.bus().subscribe_without_output(None));
    tokio::spawn(run(harness.clone(), changes, events))
}

fn wanted(harness: &Harness) -> bool {
    harness.in_force().loaded.config.trace
}

async fn run(
    harness: Arc<Harness>,
    mut changes: watch::Receiver<()>,
    mut events: Option<Subscription>,
) {
    loop {
        let file = events
            .take()
            .map(|events| (events, TraceFile::open(&harness.places.trace(), MAX_BYTES)));
        match file {
            Some((events, Ok(file))) => tokio::select! {
                () = trace(events, file) => return,
                () = switched(&harness, &mut changes, false) => {}
            },
            Some((events, Err(error))) => {
                tracing::error!(source = %error.source, "there is no trace: {error}");
                drop(events);
                changed(&mut changes).await;
            }
            None => switched(&harness, &mut changes, true).await,
        }
        events = wanted(&harness).then(|| harness.bus().subscribe_without_output(None));
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

//! Accepting callers.

use std::{sync::Arc, time::Duration};

use tokio::{net::UnixListener, sync::Semaphore, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{connection::Connection, session};
use crate::harness::Harness;

/// Commands at once; one more waits.
const CONNECTIONS: usize = 1024;

/// After accept(2) failed, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Serves until `shutdown`.
pub(crate) async fn serve(
    listener: UnixListener,
    harness: Arc<Harness>,
    shutdown: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut commands = JoinSet::new();
    loop {
        let slot = tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = commands.join_next(), if !commands.is_empty() => continue,
            slot = slots.clone().acquire_owned() => slot,
        };
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = commands.join_next(), if !commands.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let harness = harness.clone();
                commands.spawn(async move {
                    session::serve(&harness, Connection::new(stream)).await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a command of a script");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    commands.shutdown().await;
}

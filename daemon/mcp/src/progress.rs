//! Progress of a call on its way to the client: in order, rising, never in the way of the call.

use std::sync::Arc;

use harness_model::Progress;
use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What a call reports to; never blocks.
pub(crate) type Report = Arc<dyn Fn(Progress) + Send + Sync>;

/// Reports that wait for a slow client; more are dropped.
const WAITING_MAX: usize = 32;

/// The reports of one call.
pub(crate) struct ProgressRelay {
    token: ProgressToken,
    reports: mpsc::Receiver<Progress>,
    last: Option<f64>,
}

impl ProgressRelay {
    /// The relay for a request that carries a progress token, and what the call reports to.
    pub(crate) fn new(token: ProgressToken) -> (Report, Self) {
        let (sender, reports) = mpsc::channel(WAITING_MAX);
        let report: Report = Arc::new(move |progress| {
            // Full or closed: the client is slow or the call is over, and nobody waits for it.
            drop(sender.try_send(progress));
        });
        let relay = Self {
            token,
            reports,
            last: None,
        };
        (report, relay)
    }

    /// Sends reports until `ended`, and then those that are still waiting, so that none follows the
    /// call's answer.
    pub(crate) async fn run(mut self, peer: &Peer<RoleServer>, ended: CancellationToken) {
        loop {
            let next = tokio::select! {
                biased;
                next = self.reports.recv() => next,
                () = ended.cancelled() => break,
            };
            match next {
                Some(progress) => self.send(peer, progress).await,
                None => break ended.cancelled().await,
            }
        }
        while let Ok(progress) = self.reports.try_recv() {
            self.send(peer, progress).await;
        }
    }

    async fn send(&mut self, peer: &Peer<RoleServer>, progress: Progress) {
        let Progress {
            progress,
            total,
            message,
        } = progress;
        // "The progress value MUST increase with each notification"; JSON has no NaN or infinity.
        if !progress.is_finite() || self.last.is_some_and(|last| progress <= last) {
            return;
        }
        self.last = Some(progress);
        let mut params = ProgressNotificationParam::new(self.token.clone(), progress);
        params.total = total.filter(|total| total.is_finite());
        params.message = message;
        // It fails only when the connection is gone, which cancels the call.
        drop(peer.notify_progress(params).await);
    }
}

//! Wakes on their way out: stored ones for the tools, a bell for those who wait, an event for each.

use futures_util::future::BoxFuture;
use harness_execute::store::WakeStore;
use harness_model::{ErrorCode, EventBody, Refusal, UnitId, Wake, WakeId};
use harness_publish::{Bus, WakeBell};
use harness_record::Record;
use tokio::sync::broadcast;

/// How many wakes a slow session may be behind before it has to ask for them.
const BACKLOG: usize = 256;

/// The due wakes of the harness.
pub(crate) struct WakeRoom {
    record: Record,
    bus: Bus,
    bell: WakeBell,
    sessions: broadcast::Sender<Wake>,
}

impl WakeRoom {
    pub(crate) fn new(record: Record, bus: Bus) -> Self {
        Self {
            record,
            bus,
            bell: WakeBell::new(),
            sessions: broadcast::channel(BACKLOG).0,
        }
    }

    /// Tells everyone who waits that this wake is due. It is in the record already.
    pub(crate) fn announce(&self, wake: Wake) {
        self.bus.publish(EventBody::Wake(wake.clone()));
        // No session is connected: the wake stays due.
        let _listeners = self.sessions.send(wake);
        self.bell.ring();
    }

    /// Somebody has the end of this unit in hand: its wakes are acknowledged.
    pub(crate) fn end_is_known(&self, unit: UnitId) {
        self.record.wakes_ack_of(unit);
    }

    /// Each wake as it becomes due, for connected sessions.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.sessions.subscribe()
    }

    /// Resolves at the next announcement after this call, not after its first poll.
    pub(crate) fn next(&self) -> impl Future<Output = ()> + Send + use<> {
        self.bell.rung()
    }
}

/// The record's failure as every front says it.
pub(crate) fn unavailable(error: &harness_record::Error) -> Refusal {
    Refusal::new(ErrorCode::Unavailable, error.to_string()).retryable()
}

impl WakeStore for WakeRoom {
    fn take(&self, limit: u32) -> BoxFuture<'_, Result<Vec<Wake>, Refusal>> {
        Box::pin(async move {
            self.record
                .wakes_take(limit)
                .await
                .map_err(|error| unavailable(&error))
        })
    }

    fn acknowledge(&self, ids: Vec<WakeId>) -> BoxFuture<'_, Result<Vec<WakeId>, Refusal>> {
        Box::pin(async move {
            self.record
                .wakes_ack(&ids)
                .await
                .map_err(|error| unavailable(&error))
        })
    }

    fn arrival(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.bell.rung())
    }
}

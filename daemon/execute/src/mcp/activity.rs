//! Who is calling a server right now.

use tokio::sync::{Notify, watch};

/// The calls in flight.
pub(super) struct Activity {
    calls: watch::Sender<u32>,
    taken_back: Notify,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            calls: watch::Sender::new(0),
            taken_back: Notify::new(),
        }
    }

    /// A call begins; it ends when the guard is dropped.
    pub(super) fn begin(&self) -> InFlight<'_> {
        self.calls.send_modify(|calls| *calls += 1);
        InFlight {
            activity: self,
            answered: false,
        }
    }

    /// Nobody calls it.
    pub(super) fn is_idle(&self) -> bool {
        *self.calls.borrow() == 0
    }

    /// Changes whenever a call begins or ends.
    pub(super) fn changes(&self) -> watch::Receiver<u32> {
        self.calls.subscribe()
    }

    /// Resolves when a call was taken back before it was answered: the server may hang.
    pub(super) async fn taken_back(&self) {
        self.taken_back.notified().await;
    }
}

/// One call in flight.
pub(super) struct InFlight<'a> {
    activity: &'a Activity,
    answered: bool,
}

impl InFlight<'_> {
    /// The server had something to say to it.
    pub(super) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.activity.calls.send_modify(|calls| *calls -= 1);
        if !self.answered {
            self.activity.taken_back.notify_one();
        }
    }
}

//! Who waits for the end of a unit, and whether anybody got it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use harness_model::{UnitId, UnitState};

use crate::{Journal, handle::UnitHandle};

/// The waiters of one unit. Whoever is here when it comes to rest makes the end *awaited*: the
/// journal holds its wake back until one of them has delivered it, or all are gone.
pub(crate) struct Waits {
    unit: UnitId,
    journal: Arc<dyn Journal>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    claims: usize,
    /// Set when the end is decided: whether somebody was waiting then.
    awaited: Option<bool>,
    journaled: bool,
    delivered: bool,
    settled: bool,
}

impl Waits {
    pub(crate) fn new(unit: UnitId, journal: Arc<dyn Journal>) -> Self {
        Self {
            unit,
            journal,
            inner: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this waiter has a say in the wake. One that comes when the wake is on its way has not.
    fn claim(&self) -> bool {
        let mut inner = self.lock();
        let open = inner.awaited.unwrap_or(true) && !inner.settled;
        if open {
            inner.claims += 1;
        }
        open
    }

    fn release(&self, delivered: bool) {
        let mut inner = self.lock();
        inner.claims = inner.claims.saturating_sub(1);
        inner.delivered |= delivered;
        self.settle(&mut inner);
    }

    /// The unit comes to rest: is that awaited? Asked again each time it has to be recorded anew.
    pub(crate) fn close(&self) -> bool {
        let mut inner = self.lock();
        let awaited = inner.claims > 0 || inner.delivered;
        inner.awaited = Some(awaited);
        awaited
    }

    /// The end is in the record, as `close` had it.
    pub(crate) fn journaled(&self) {
        let mut inner = self.lock();
        inner.journaled = true;
        self.settle(&mut inner);
    }

    fn settle(&self, inner: &mut Inner) {
        let decided = inner.delivered || inner.claims == 0;
        if inner.awaited == Some(true) && inner.journaled && decided && !inner.settled {
            inner.settled = true;
            self.journal.waited(&self.unit, inner.delivered);
        }
    }
}

/// A place among those who wait; given back when it is dropped.
struct Claim {
    waits: Arc<Waits>,
    counts: bool,
}

impl Claim {
    fn new(waits: Arc<Waits>) -> Self {
        let counts = waits.claim();
        Self { waits, counts }
    }

    fn delivered(mut self) {
        if std::mem::take(&mut self.counts) {
            self.waits.release(true);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.counts {
            self.waits.release(false);
        }
    }
}

/// Somebody who waits for the end of a unit, from now on.
pub struct Waiter {
    handle: UnitHandle,
    claim: Claim,
}

impl Waiter {
    pub(crate) fn new(handle: UnitHandle) -> Self {
        let claim = Claim::new(handle.waits());
        Self { handle, claim }
    }

    /// Waits until the unit is at rest; `None` when `limit` passes first, and nobody has to be told.
    pub async fn end(self, limit: Duration) -> Option<Ending> {
        let state = tokio::time::timeout(limit, self.handle.wait_end())
            .await
            .ok()?;
        Some(Ending {
            state,
            claim: self.claim,
        })
    }
}

/// The end of a unit, in the hands of one who waited for it.
///
/// Dropped without [`delivered`](Self::delivered) it counts as lost on the way: the wake is sent after all.
#[must_use = "dropped without `delivered`, the wake is sent after all"]
pub struct Ending {
    /// The unit's state at rest.
    pub state: UnitState,
    claim: Claim,
}

impl Ending {
    /// The one who asked has it: no wake is needed.
    #[expect(
        clippy::must_use_candidate,
        reason = "most who say so have read the state"
    )]
    pub fn delivered(self) -> UnitState {
        self.claim.delivered();
        self.state
    }
}

//! Time as units see it: spans on the monotonic clock, stamps on the wall clock.

use std::time::{Duration, SystemTime};

use harness_model::Timestamp;
use tokio::time::Instant;

/// A point on the monotonic clock. Two of them differ by the time that passed, whatever the wall clock did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// A point this far from an arbitrary origin.
    #[must_use]
    pub const fn at(since_origin: Duration) -> Self {
        Self(since_origin)
    }

    /// This point and `span` more.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span))
    }

    /// This point less `span`, but not before the origin.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span))
    }

    /// The time from `earlier` to this; zero when it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// One reading of both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// For spans.
    pub monotonic: Moment,
    /// For people and for the record.
    pub wall: Timestamp,
}

/// Reads both clocks. The monotonic one is tokio's, so that tests can pause it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    base: Instant,
    wall: fn() -> SystemTime,
}

/// Lies before anything that could have begun before the daemon did.
const BASE: Duration = Duration::from_secs(1 << 34);

impl Clock {
    pub(crate) fn new(wall: fn() -> SystemTime) -> Self {
        Self {
            base: Instant::now(),
            wall,
        }
    }

    pub(crate) fn now(&self) -> Now {
        Now {
            monotonic: Moment(BASE + self.base.elapsed()),
            wall: (self.wall)().into(),
        }
    }

    /// When a moment is reached; `None` when that is too far away to be told.
    pub(crate) fn instant(&self, moment: Moment) -> Option<Instant> {
        self.base
            .checked_add(moment.0.saturating_sub(BASE))
            .filter(|instant| *instant < self.base + FAR)
    }
}

/// Further than any unit lives; tokio's timer wheel does not reach further either.
const FAR: Duration = Duration::from_hours(24 * 365 * 2);

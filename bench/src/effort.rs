//! How long to measure.

use std::time::Duration;

/// How many turns each side gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    quick: bool,
}

impl Effort {
    pub(crate) fn new(quick: bool) -> Self {
        Self { quick }
    }

    /// `full` of something, or a fifth of it; never less than three.
    pub(crate) fn count(self, full: usize) -> usize {
        if self.quick { (full / 5).max(3) } else { full }
    }

    /// `full` bytes, or a quarter.
    pub(crate) fn bytes(self, full: u64) -> u64 {
        if self.quick { full / 4 } else { full }
    }

    /// How long one pair of sides may take, once each had three turns.
    pub(crate) fn patience(self) -> Duration {
        Duration::from_secs(if self.quick { 4 } else { 20 })
    }
}

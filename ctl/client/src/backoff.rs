//! How long to keep asking for a daemon that is being restarted.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{Error, Result};

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// A harness that stays away longer than this is taken as gone.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(crate) struct Backoff {
    delay: Duration,
    since: Option<Instant>,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self {
            delay: FIRST,
            since: None,
        }
    }

    /// The harness has answered.
    pub(crate) fn reset(&mut self) {
        *self = Self::new();
    }

    /// Waits before the next try, or gives `error` back: it will not pass, or has lasted too long.
    pub(crate) async fn pause(&mut self, error: Error) -> Result<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        if !error.is_passing() || since.elapsed() >= PATIENCE {
            return Err(error);
        }
        self.rest().await;
        Ok(())
    }

    /// Waits before the next try.
    pub(crate) async fn rest(&mut self) {
        sleep(self.delay).await;
        self.delay = (self.delay * 2).min(LONGEST);
    }
}

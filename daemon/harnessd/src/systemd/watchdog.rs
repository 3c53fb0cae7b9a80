//! The watchdog: proof that the main loop turns and the record answers.

use std::{fmt::Display, time::Duration};

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

use super::notify::Notifier;

/// Sends `WATCHDOG=1` from the main loop, at half of `WATCHDOG_USEC` (`sd_watchdog_enabled(3)`).
///
/// ```text
/// loop {
///     tokio::select! {
///         () = watchdog.due() => watchdog.answer(record.flush()).await,
///         …
///     }
/// }
/// ```
///
/// Nobody else may send it: a timer of its own would go on when the loop hangs. Without a watchdog
/// there is no timer.
#[derive(Debug)]
pub struct Watchdog {
    notifier: Notifier,
    interval: Option<Interval>,
}

impl Watchdog {
    /// As the service manager asks for it.
    #[must_use]
    pub fn from_environment(notifier: Notifier) -> Self {
        Self::new(notifier, sd_notify::watchdog_enabled())
    }

    /// For a service that is ended after `limit` without a sign; `None` or zero: no watchdog.
    #[must_use]
    pub fn new(notifier: Notifier, limit: Option<Duration>) -> Self {
        let interval = limit.filter(|limit| !limit.is_zero()).map(|limit| {
            let half = limit / 2;
            let mut interval = interval_at(Instant::now() + half, half);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        Self { notifier, interval }
    }

    /// Resolves when a sign is due; never without a watchdog. Cancellation loses nothing.
    pub async fn due(&mut self) {
        match &mut self.interval {
            Some(interval) => _ = interval.tick().await,
            None => std::future::pending().await,
        }
    }

    /// Gives the sign once `probe` has succeeded. If it fails, or takes as long as the time
    /// between two signs, none is given: the service manager ends and restarts the daemon.
    pub async fn answer<E: Display>(&self, probe: impl Future<Output = Result<(), E>>) {
        let Some(interval) = &self.interval else {
            return;
        };
        match timeout(interval.period(), probe).await {
            Ok(Ok(())) => self.notifier.alive(),
            Ok(Err(error)) => tracing::error!(%error, "the record fails: no sign to the watchdog"),
            Err(_) => tracing::error!("the record does not answer: no sign to the watchdog"),
        }
    }
}

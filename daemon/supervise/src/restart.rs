//! Whether, when and how often a unit is started again: systemd's arithmetic, without clock or process.

use std::time::Duration;

use harness_model::{ExitStatus, Restart, Timestamp, UnitPolicy, UnitResult};

use crate::clock::{Moment, Now};

/// Whether a run that ended is followed by another (systemd.service(5), `Restart=` and its table).
///
/// A stop that somebody asked for is never followed by one. `RestartPreventExitStatus=` is asked
/// before `RestartForceExitStatus=`, and both before `Restart=`. `status` is `None` for a run that
/// could not be started or whose end nobody saw.
#[must_use]
pub fn should_restart(
    policy: &UnitPolicy,
    result: UnitResult,
    status: Option<ExitStatus>,
    stop_requested: bool,
) -> bool {
    if stop_requested
        || status.is_some_and(|status| policy.restart_prevent_exit_status.contains(status))
    {
        return false;
    }
    if status.is_some_and(|status| policy.restart_force_exit_status.contains(status)) {
        return true;
    }
    match policy.restart {
        // Units have no watchdog, so its result never comes up.
        Restart::No | Restart::OnWatchdog => false,
        Restart::Always => true,
        Restart::OnSuccess => result == UnitResult::Success,
        Restart::OnFailure => result != UnitResult::Success,
        Restart::OnAbnormal => !matches!(result, UnitResult::Success | UnitResult::ExitCode),
        Restart::OnAbort => matches!(result, UnitResult::Signal | UnitResult::CoreDump),
    }
}

/// How long to wait before the next automatic restart, when `restarts` were made before it.
///
/// The first waits `RestartSec=`. With `RestartSteps=` n and `RestartMaxDelaySec=` the delay grows by
/// the same factor from step to step: r(i) = r(0) · (max / r(0))^(i / n), in whole microseconds, and
/// stays at the maximum from step n on (systemd.service(5)). `None`: it is never due.
#[must_use]
pub fn restart_delay(policy: &UnitPolicy, restarts: u32) -> Option<Duration> {
    let first = policy.restart_sec?;
    let Some(max) = policy.restart_max_delay else {
        return Some(first);
    };
    let steps = policy.restart_steps;
    if restarts == 0 || steps == 0 || first.is_zero() || first >= max {
        return Some(first);
    }
    if restarts >= steps {
        return Some(max);
    }
    let growth =
        (max.as_secs_f64() / first.as_secs_f64()).powf(f64::from(restarts) / f64::from(steps));
    let delay = first.mul_f64(growth).clamp(first, max);
    // A product that should be a whole number of microseconds may come out a hair below it.
    let micros = (delay + Duration::from_nanos(1)).as_micros();
    Some(Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)).min(max))
}

/// systemd's start limit (systemd.unit(5), `StartLimitIntervalSec=`): at most so many starts in a
/// window that begins with a start and is left once the interval has passed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartLimit {
    begin: Option<Moment>,
    count: u32,
    recent: Vec<Timestamp>,
}

/// So many starts of one window are remembered over a restart of the daemon.
const REMEMBERED: usize = 64;

impl StartLimit {
    /// As the record has it: the starts of the current window, oldest first.
    #[must_use]
    pub fn restored(recent: Vec<Timestamp>, now: Now) -> Self {
        let age = recent.first().map(|first| now.wall.since(*first));
        Self {
            begin: age.map(|age| now.monotonic.minus(age)),
            count: u32::try_from(recent.len()).unwrap_or(u32::MAX),
            recent,
        }
    }

    /// Counts a start, and says whether it is allowed.
    pub fn admit(&mut self, policy: &UnitPolicy, now: Now) -> bool {
        let interval = policy.start_limit_interval;
        if policy.start_limit_burst == 0 || interval.is_some_and(|interval| interval.is_zero()) {
            return true;
        }
        let inside = self.begin.is_some_and(|begin| {
            interval.is_none_or(|interval| now.monotonic.since(begin) <= interval)
        });
        if !inside {
            *self = Self {
                begin: Some(now.monotonic),
                ..Self::default()
            };
        }
        if self.count >= policy.start_limit_burst {
            return false;
        }
        self.count += 1;
        if self.recent.len() < REMEMBERED {
            self.recent.push(now.wall);
        }
        true
    }

    /// The starts of the current window, oldest first; the first 64 of them.
    #[must_use]
    pub fn recent(&self) -> &[Timestamp] {
        &self.recent
    }
}

//! The keys of a unit: what a user may set, and what holds when it is not set.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ByteSize, CpuQuota, ExitStatus, ExitStatusSet, KillMode, Limit, OomPolicy, Restart, Signal,
    TimeSpan,
};

/// The keys of a unit as they stand in TOML, in the tool `run`, in the API and on D-Bus.
///
/// Meanings and defaults are those of systemd.service(5), systemd.kill(5) and
/// systemd.resource-control(5). A key that is not set is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UnitSettings {
    /// When the unit is started again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Restart>,
    /// How long to wait before an automatic restart; default 100 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_sec: Option<TimeSpan>,
    /// In how many steps the delay grows from `restart_sec` to `restart_max_delay_sec`; default 0, no growth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_steps: Option<u32>,
    /// The longest delay before an automatic restart; default infinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_max_delay_sec: Option<TimeSpan>,
    /// The window of the start limit; default 10 s, 0 switches it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_limit_interval_sec: Option<TimeSpan>,
    /// How many starts the window allows; default 5, 0 switches the limit off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_limit_burst: Option<u32>,
    /// More exit codes and signals that count as a clean end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_exit_status: Option<ExitStatusSet>,
    /// Ends after which it is never restarted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_prevent_exit_status: Option<ExitStatusSet>,
    /// Ends after which it is always restarted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_force_exit_status: Option<ExitStatusSet>,
    /// The longest a run may take; default infinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_max_sec: Option<TimeSpan>,
    /// How long a stop waits between the two signals; default 90 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_stop_sec: Option<TimeSpan>,
    /// Which processes a stop signals; default control-group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kill_mode: Option<KillMode>,
    /// The first signal of a stop; default SIGTERM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kill_signal: Option<Signal>,
    /// The last signal of a stop; default SIGKILL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_kill_signal: Option<Signal>,
    /// The memory the whole tree may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_max: Option<Limit>,
    /// How many processes and threads the tree may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_max: Option<Limit>,
    /// The CPU time the tree may use, in per cent of one processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<CpuQuota>,
    /// What happens when the kernel kills a process of it for want of memory; default stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oom_policy: Option<OomPolicy>,
}

/// Keys that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// systemd.service(5) asks for both or none.
    #[error("restart_steps needs restart_max_delay_sec, and the other way round: set both or none")]
    StepsWithoutMaximum,
    /// systemd takes the maximum as the delay then; saying so beats guessing.
    #[error(
        "restart_max_delay_sec ({max}) is shorter than restart_sec ({first}): make it at least as long"
    )]
    MaximumBelowFirst {
        /// `restart_sec`
        first: TimeSpan,
        /// `restart_max_delay_sec`
        max: TimeSpan,
    },
    /// A tree cannot run in less.
    #[error("memory_max ({0}) is below 1M: no shell starts in that")]
    MemoryTooSmall(ByteSize),
    /// A unit with no process allowed cannot start.
    #[error("tasks_max is 0: the unit could not start; the least is 1")]
    NoTasks,
}

macro_rules! over {
    ($over:expr, $under:expr, $($key:ident)+) => {
        UnitSettings { $($key: $over.$key.clone().or_else(|| $under.$key.clone()),)+ }
    };
}

impl UnitSettings {
    /// These keys where they are set, else those of `defaults`.
    #[must_use]
    pub fn over(&self, defaults: &Self) -> Self {
        over!(self, defaults,
            restart restart_sec restart_steps restart_max_delay_sec start_limit_interval_sec start_limit_burst
            success_exit_status restart_prevent_exit_status restart_force_exit_status runtime_max_sec
            timeout_stop_sec kill_mode kill_signal final_kill_signal memory_max tasks_max cpu_quota oom_policy)
    }

    /// The policy that holds, with systemd's defaults for what is not set.
    ///
    /// # Errors
    /// Keys that do not fit together.
    pub fn resolve(&self) -> Result<UnitPolicy, SettingsError> {
        let policy = UnitPolicy {
            restart: self.restart.unwrap_or(Restart::No),
            restart_sec: self
                .restart_sec
                .unwrap_or(TimeSpan::from_millis(100))
                .finite(),
            restart_steps: self.restart_steps.unwrap_or(0),
            restart_max_delay: self.restart_max_delay_sec.and_then(TimeSpan::finite),
            start_limit_interval: self
                .start_limit_interval_sec
                .unwrap_or(TimeSpan::from_secs(10))
                .finite(),
            start_limit_burst: self.start_limit_burst.unwrap_or(5),
            success_exit_status: self.success_exit_status.clone().unwrap_or_default(),
            restart_prevent_exit_status: self
                .restart_prevent_exit_status
                .clone()
                .unwrap_or_default(),
            restart_force_exit_status: self.restart_force_exit_status.clone().unwrap_or_default(),
            runtime_max: self
                .runtime_max_sec
                .and_then(TimeSpan::finite)
                .filter(|span| !span.is_zero()),
            // systemd takes 0 as "no timeout" here.
            timeout_stop: self
                .timeout_stop_sec
                .unwrap_or(TimeSpan::from_secs(90))
                .finite()
                .filter(|span| !span.is_zero()),
            kill_mode: self.kill_mode.unwrap_or(KillMode::ControlGroup),
            kill_signal: self.kill_signal.unwrap_or(Signal::TERM),
            final_kill_signal: self.final_kill_signal.unwrap_or(Signal::KILL),
            memory_max: self.memory_max.and_then(Limit::finite),
            tasks_max: self.tasks_max.and_then(Limit::finite),
            cpu_quota: self.cpu_quota,
            oom_policy: self.oom_policy.unwrap_or(OomPolicy::Stop),
        };
        policy.check()?;
        Ok(policy)
    }
}

/// The keys of a unit with every default filled in. `None` means "no limit" or "for ever".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitPolicy {
    /// `Restart=`
    pub restart: Restart,
    /// `RestartSec=`; `None`: it is never due.
    pub restart_sec: Option<Duration>,
    /// `RestartSteps=`
    pub restart_steps: u32,
    /// `RestartMaxDelaySec=`
    pub restart_max_delay: Option<Duration>,
    /// `StartLimitIntervalSec=`; zero switches the limit off.
    pub start_limit_interval: Option<Duration>,
    /// `StartLimitBurst=`; zero switches the limit off.
    pub start_limit_burst: u32,
    /// `SuccessExitStatus=`
    pub success_exit_status: ExitStatusSet,
    /// `RestartPreventExitStatus=`
    pub restart_prevent_exit_status: ExitStatusSet,
    /// `RestartForceExitStatus=`
    pub restart_force_exit_status: ExitStatusSet,
    /// `RuntimeMaxSec=`
    pub runtime_max: Option<Duration>,
    /// `TimeoutStopSec=`
    pub timeout_stop: Option<Duration>,
    /// `KillMode=`
    pub kill_mode: KillMode,
    /// `KillSignal=`
    pub kill_signal: Signal,
    /// `FinalKillSignal=`
    pub final_kill_signal: Signal,
    /// `MemoryMax=` in bytes
    pub memory_max: Option<u64>,
    /// `TasksMax=`
    pub tasks_max: Option<u64>,
    /// `CPUQuota=`
    pub cpu_quota: Option<CpuQuota>,
    /// `OOMPolicy=`
    pub oom_policy: OomPolicy,
}

impl UnitPolicy {
    /// Whether an end is clean: exit code 0, the signals HUP, INT, TERM and PIPE, and what
    /// `success_exit_status` adds (systemd.service(5)). A core dump never is.
    #[must_use]
    pub fn is_clean(&self, status: ExitStatus) -> bool {
        let by_default = match status {
            ExitStatus::Exited(code) => code == 0,
            ExitStatus::Signaled { signal, core_dump } => {
                !core_dump
                    && matches!(
                        signal,
                        Signal::HUP | Signal::INT | Signal::TERM | Signal::PIPE
                    )
            }
        };
        let dumped = matches!(
            status,
            ExitStatus::Signaled {
                core_dump: true,
                ..
            }
        );
        by_default || !dumped && self.success_exit_status.contains(status)
    }

    fn check(&self) -> Result<(), SettingsError> {
        if (self.restart_steps > 0) != self.restart_max_delay.is_some() {
            return Err(SettingsError::StepsWithoutMaximum);
        }
        if let (Some(first), Some(max)) = (self.restart_sec, self.restart_max_delay)
            && max < first
        {
            return Err(SettingsError::MaximumBelowFirst {
                first: first.into(),
                max: max.into(),
            });
        }
        if let Some(bytes) = self.memory_max.filter(|bytes| *bytes < 1 << 20) {
            return Err(SettingsError::MemoryTooSmall(ByteSize(bytes)));
        }
        if self.tasks_max == Some(0) {
            return Err(SettingsError::NoTasks);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_table_has_systemds_defaults() {
        let policy = UnitSettings::default().resolve().unwrap();
        assert_eq!(policy.restart, Restart::No);
        assert_eq!(policy.restart_sec, Some(Duration::from_millis(100)));
        assert_eq!(policy.start_limit_interval, Some(Duration::from_secs(10)));
        assert_eq!(policy.start_limit_burst, 5);
        assert_eq!(policy.timeout_stop, Some(Duration::from_secs(90)));
        assert_eq!(policy.kill_mode, KillMode::ControlGroup);
        assert_eq!(policy.oom_policy, OomPolicy::Stop);
    }

    #[test]
    fn the_call_wins_over_the_config_key_by_key() {
        let config: UnitSettings =
            serde_json::from_str(r#"{"restart":"always","restart_sec":5}"#).unwrap();
        let call: UnitSettings = serde_json::from_str(r#"{"restart":"no"}"#).unwrap();
        let both = call.over(&config);
        assert_eq!(both.restart, Some(Restart::No));
        assert_eq!(both.restart_sec, Some(TimeSpan::from_secs(5)));
    }

    #[test]
    fn the_clean_signals_are_clean_unless_they_dump_core() {
        let policy = UnitSettings::default().resolve().unwrap();
        for (signal, clean) in [
            (Signal::TERM, true),
            (Signal::PIPE, true),
            (Signal::KILL, false),
            (Signal::ABRT, false),
        ] {
            assert_eq!(
                policy.is_clean(ExitStatus::Signaled {
                    signal,
                    core_dump: false
                }),
                clean,
                "{signal}"
            );
            assert!(
                !policy.is_clean(ExitStatus::Signaled {
                    signal,
                    core_dump: true
                }),
                "{signal}"
            );
        }
    }

    #[test]
    fn keys_that_do_not_fit_together_are_refused() {
        for (json, part) in [
            (r#"{"restart_steps":3}"#, "restart_max_delay_sec"),
            (r#"{"restart_max_delay_sec":3}"#, "restart_steps"),
            (
                r#"{"restart_sec":9,"restart_steps":3,"restart_max_delay_sec":3}"#,
                "shorter",
            ),
            (r#"{"memory_max":"4K"}"#, "memory_max"),
            (r#"{"tasks_max":0}"#, "tasks_max"),
        ] {
            let settings: UnitSettings = serde_json::from_str(json).unwrap();
            let error = settings.resolve().unwrap_err().to_string();
            assert!(error.contains(part), "{json}: {error}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        let error = serde_json::from_str::<UnitSettings>(r#"{"restrat":"no"}"#)
            .unwrap_err()
            .to_string();
        assert!(error.contains("restrat"), "{error}");
    }
}

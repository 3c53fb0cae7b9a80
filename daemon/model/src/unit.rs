//! Units: everything that has a pid, in systemd's words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ExitReport, InvocationId, Timestamp, UnitId, UnitSettings};

/// Defines an enum whose JSON form is systemd's word, with `as_str` for logs and SQL.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word as it stands in JSON, TOML and on D-Bus.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The value of a word, if it is one.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a unit is for.
    UnitKind {
        /// A background shell task of the tool group `bash`.
        Task = "task",
        /// One call of the tool `shell`.
        Shell = "shell",
        /// An MCP server on stdio.
        McpServer = "mcp-server",
        /// A process that holds one plugin.
        PluginHost = "plugin-host",
        /// One agent turn, started because wakes were due.
        Turn = "turn",
        /// A hook or the rater.
        Hook = "hook",
    }
}

words! {
    /// systemd's `ActiveState` (systemd(1)).
    ActiveState {
        /// Not running, and its last run did not fail.
        Inactive = "inactive",
        /// Starting, or waiting for its automatic restart.
        Activating = "activating",
        /// Running.
        Active = "active",
        /// Being stopped.
        Deactivating = "deactivating",
        /// Not running, and its last run failed.
        Failed = "failed",
    }
}

words! {
    /// systemd's service states, as `systemctl show -P SubState` prints them.
    SubState {
        /// Nothing runs.
        Dead = "dead",
        /// The main process is being started.
        Start = "start",
        /// The main process runs.
        Running = "running",
        /// Waiting for the next automatic restart.
        AutoRestart = "auto-restart",
        /// `kill_signal` was sent.
        StopSigterm = "stop-sigterm",
        /// `final_kill_signal` was sent.
        StopSigkill = "stop-sigkill",
        /// The main process ended, the rest of the tree is left by `kill_mode = "process"`.
        Exited = "exited",
        /// It failed and is not restarted.
        Failed = "failed",
    }
}

words! {
    /// systemd's `Result` of a service (systemd.exec(5), `$SERVICE_RESULT`).
    UnitResult {
        /// It ended as it should, or has not ended yet.
        Success = "success",
        /// It exited with a code that is no success.
        ExitCode = "exit-code",
        /// A signal ended it.
        Signal = "signal",
        /// A signal ended it and it left a core dump.
        CoreDump = "core-dump",
        /// `runtime_max_sec` or `timeout_stop_sec` passed.
        Timeout = "timeout",
        /// The kernel killed a process of it for want of memory.
        OomKill = "oom-kill",
        /// It was started more often than `start_limit_burst` allows.
        StartLimitHit = "start-limit-hit",
        /// It could not be started: no such program, no memory, no file descriptors.
        Resources = "resources",
    }
}

words! {
    /// When a unit is started again by itself (systemd.service(5), `Restart=`).
    Restart {
        /// Never.
        No = "no",
        /// After a clean exit.
        OnSuccess = "on-success",
        /// After an unclean exit code, signal, core dump or timeout.
        OnFailure = "on-failure",
        /// After an unclean signal, core dump or timeout.
        OnAbnormal = "on-abnormal",
        /// After an unclean signal or core dump.
        OnAbort = "on-abort",
        /// After the watchdog.
        OnWatchdog = "on-watchdog",
        /// After every end that was not asked for.
        Always = "always",
    }
}

words! {
    /// Which processes a stop signals (systemd.kill(5), `KillMode=`).
    KillMode {
        /// The whole tree gets both signals.
        ControlGroup = "control-group",
        /// The main process gets `kill_signal`, the whole tree `final_kill_signal`.
        Mixed = "mixed",
        /// The main process alone; the rest is left.
        Process = "process",
    }
}

words! {
    /// What happens when the kernel kills a process of the unit for want of memory (systemd.service(5), `OOMPolicy=`).
    OomPolicy {
        /// Nothing else.
        Continue = "continue",
        /// The unit is stopped.
        Stop = "stop",
        /// The kernel kills the whole unit at once.
        Kill = "kill",
    }
}

/// A unit's state at one moment: what the engine decides and the record keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnitState {
    /// systemd's `ActiveState`.
    pub active_state: ActiveState,
    /// systemd's `SubState`.
    pub sub_state: SubState,
    /// systemd's `Result`.
    pub result: UnitResult,
    /// How often it was restarted by itself (systemd's `NRestarts`).
    pub restarts: u32,
    /// The current or last run.
    pub invocation: Option<InvocationId>,
    /// The main process, while it runs.
    pub pid: Option<i32>,
    /// When the unit was first started.
    pub started_at: Option<Timestamp>,
    /// When the current or last run was started.
    pub invocation_started_at: Option<Timestamp>,
    /// How the last run ended.
    pub exit: Option<ExitReport>,
    /// When the unit came to its final rest.
    pub ended_at: Option<Timestamp>,
    /// When the pending automatic restart is due.
    pub restart_at: Option<Timestamp>,
    /// Somebody asked for the stop.
    pub stop_requested: bool,
    /// `runtime_max_sec` passed in the current or last run. [`UnitResult::Timeout`] does not tell: it is also the
    /// result of a run whose processes needed the final signal.
    #[serde(default)]
    pub runtime_exceeded: bool,
    /// The daemon or the keeper went away under it, and nobody knows how it ended.
    pub interrupted: bool,
    /// Why it could not be started, or what is not enforced for it.
    pub note: Option<String>,
}

impl UnitState {
    /// Before the first start.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            active_state: ActiveState::Inactive,
            sub_state: SubState::Dead,
            result: UnitResult::Success,
            restarts: 0,
            invocation: None,
            pid: None,
            started_at: None,
            invocation_started_at: None,
            exit: None,
            ended_at: None,
            restart_at: None,
            stop_requested: false,
            runtime_exceeded: false,
            interrupted: false,
            note: None,
        }
    }

    /// Whether it has come to rest: it will not run again unless somebody starts it.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.ended_at.is_some()
            && matches!(
                self.active_state,
                ActiveState::Inactive | ActiveState::Failed
            )
    }
}

impl Default for UnitState {
    fn default() -> Self {
        Self::new()
    }
}

/// A unit as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnitStatus {
    /// Its id.
    pub id: UnitId,
    /// What it is for.
    pub kind: UnitKind,
    /// The name its maker gave it.
    pub name: Option<String>,
    /// What it runs: the command as given, or the words of its argument list.
    pub command: String,
    /// Where it runs.
    pub cwd: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The keys that were set for it.
    pub settings: UnitSettings,
    /// Its state.
    #[serde(flatten)]
    pub state: UnitState,
}

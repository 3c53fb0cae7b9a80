//! What a unit is made from.

use std::{fmt, path::PathBuf};

use harness_model::{
    CallId, KillMode, NewUnit, SandboxRules, Signal, Timestamp, UnitId, UnitKind, UnitPolicy,
    UnitSettings,
};
use serde::{Deserialize, Serialize};

use crate::{StopSequence, TreeLimits};

/// Everything needed to run a unit, also after a restart of the daemon. It goes into the record as
/// JSON, so nothing secret belongs in it: see [`RunEnvironment`](crate::RunEnvironment).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitSpec {
    /// What it is for.
    pub kind: UnitKind,
    /// The name its maker gave it.
    pub name: Option<String>,
    /// The call that made it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// What people see: the command as given.
    pub command: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The whole environment.
    pub environment: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// The keys of the unit, merged over the configured defaults.
    pub settings: UnitSettings,
    /// Where its output goes.
    pub output: OutputFiles,
    /// What it reads from standard input; `None`: `/dev/null`.
    pub stdin: Option<String>,
    /// What it may do with files and the network.
    #[serde(default, skip_serializing_if = "SandboxRules::is_default")]
    pub sandbox: SandboxRules,
}

/// Where the output of a unit goes. Both may be one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFiles {
    /// Standard output.
    pub stdout: PathBuf,
    /// Standard error.
    pub stderr: PathBuf,
    /// The most that each may take on disk, in bytes; at least 64 KiB are kept.
    pub max_bytes: u64,
}

/// A part of a spec that no process can be started with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}")]
pub struct SpecError {
    /// Which part.
    pub field: &'static str,
    /// What is wrong with it, and what would be right.
    pub problem: &'static str,
}

const NUL: &str = "contains a NUL byte: leave it out";

impl UnitSpec {
    /// Refuses what the kernel could not take.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        let refuse = |field, problem| Err(SpecError { field, problem });
        if self.argv.first().is_none_or(String::is_empty) {
            return refuse("the command", "is empty: name a program");
        }
        if self.argv.iter().any(|word| word.contains('\0')) {
            return refuse("the command", NUL);
        }
        if self.cwd.as_os_str().as_encoded_bytes().contains(&0) {
            return refuse("the directory", NUL);
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains('=') {
                return refuse("a variable's name", "is empty or contains =: rename it");
            }
            if name.contains('\0') || value.contains('\0') {
                return refuse("the environment", NUL);
            }
        }
        Ok(())
    }

    pub(crate) fn new_unit(
        &self,
        id: &UnitId,
        created_at: Timestamp,
    ) -> Result<NewUnit, serde_json::Error> {
        Ok(NewUnit {
            id: id.clone(),
            kind: self.kind,
            name: self.name.clone(),
            command: self.command.clone(),
            spec: serde_json::to_string(self)?,
            cwd: self.cwd.to_string_lossy().into_owned(),
            settings: self.settings.clone(),
            created_at,
        })
    }
}

/// The environment may hold what no log should show: its names are shown, its values are not.
impl fmt::Debug for UnitSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.environment.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("UnitSpec")
            .field("kind", &self.kind)
            .field("name", &self.name)
            .field("argv", &self.argv)
            .field("environment", &names)
            .field("cwd", &self.cwd)
            .field("settings", &self.settings)
            .field("output", &self.output)
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}

/// How a policy ends a tree.
pub(crate) fn stop_sequence(policy: &UnitPolicy) -> StopSequence {
    StopSequence {
        kill_mode: policy.kill_mode,
        kill_signal: policy.kill_signal,
        timeout: policy.timeout_stop,
        final_kill_signal: policy.final_kill_signal,
    }
}

/// Everything at once, whatever the policy says.
pub(crate) const fn kill_sequence() -> StopSequence {
    StopSequence {
        kill_mode: KillMode::ControlGroup,
        kill_signal: Signal::KILL,
        timeout: None,
        final_kill_signal: Signal::KILL,
    }
}

/// How a policy limits a tree. `OOMPolicy=kill` is the kernel's own doing (systemd.service(5)).
pub(crate) fn tree_limits(policy: &UnitPolicy) -> TreeLimits {
    TreeLimits {
        memory_max: policy.memory_max,
        tasks_max: policy.tasks_max,
        cpu_quota: policy.cpu_quota.map(|quota| quota.0),
        oom_group: policy.oom_policy == harness_model::OomPolicy::Kill,
        // The engine's own clock, which a restarted daemon takes up again.
        runtime_max: None,
    }
}

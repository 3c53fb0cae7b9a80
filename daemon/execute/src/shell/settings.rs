//! What the configuration says about shell calls.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use harness_model::{
    Allowance, KillMode, Restart, SandboxProfile, SandboxRules, Signal, TimeSpan, UnitSettings,
};

use super::input::Prepared;
use crate::{bash::EnvironmentOf, confine};

/// How long a command has between `kill_signal` and SIGKILL.
const GRACE: TimeSpan = TimeSpan::from_secs(5);

/// `[tool.shell]` and what it needs from beside it.
#[derive(Clone)]
pub struct ShellSettings {
    /// Whether the tool may be called at all.
    pub enabled: bool,
    /// The interpreter of calls that name none; an absolute path.
    pub shell: PathBuf,
    /// Where commands run; an absolute path.
    pub workspace: PathBuf,
    /// Where the output files are: `ID.out` and `ID.err`.
    pub output_directory: PathBuf,
    /// What each output file may take on disk, in bytes.
    pub output_max: u64,
    /// The time limit of a call that names none, in milliseconds.
    pub default_timeout_ms: u64,
    /// The longest time limit, in milliseconds.
    pub max_timeout_ms: u64,
    /// The limits and the signal of tasks, which hold here too.
    pub unit: UnitSettings,
    /// What a command may do with files and the network.
    pub sandbox: SandboxProfile,
    /// The environment of a command.
    pub environment: Arc<EnvironmentOf>,
}

impl ShellSettings {
    /// The time limit that holds for a call that asks for `requested`, in milliseconds.
    #[must_use]
    pub(super) fn timeout(&self, requested: Option<u64>) -> u64 {
        requested
            .unwrap_or(self.default_timeout_ms)
            .clamp(1, self.max_timeout_ms.max(1))
    }

    /// The environment of a command.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        (self.environment)(&BTreeMap::new())
    }

    /// The rules that a command runs under.
    pub(super) fn confine(
        &self,
        input: &Prepared,
        cwd: &Path,
        allowance: Option<&Allowance>,
    ) -> SandboxRules {
        let search_path = self.search_path();
        let site = confine::Site {
            interpreter: Path::new(&input.shell),
            search_path: &search_path,
            cwd,
            workspace: &self.workspace,
        };
        confine::rules(&self.sandbox, &input.sandbox, allowance, &site)
    }

    /// The `PATH` of a command.
    pub(super) fn search_path(&self) -> String {
        let path = |(name, value): (String, String)| (name == "PATH").then_some(value);
        self.variables()
            .into_iter()
            .find_map(path)
            .unwrap_or_default()
    }

    /// The keys of a call's unit: it runs once, and its whole tree ends with it.
    pub(super) fn unit(&self, timeout_ms: u64) -> UnitSettings {
        UnitSettings {
            restart: Some(Restart::No),
            runtime_max_sec: Some(TimeSpan::from_millis(timeout_ms)),
            timeout_stop_sec: Some(GRACE),
            kill_mode: Some(KillMode::ControlGroup),
            kill_signal: self.unit.kill_signal,
            final_kill_signal: Some(Signal::KILL),
            memory_max: self.unit.memory_max,
            tasks_max: self.unit.tasks_max,
            cpu_quota: self.unit.cpu_quota,
            oom_policy: self.unit.oom_policy,
            ..UnitSettings::default()
        }
    }
}

impl fmt::Debug for ShellSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ShellSettings")
            .field("enabled", &self.enabled)
            .field("shell", &self.shell)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

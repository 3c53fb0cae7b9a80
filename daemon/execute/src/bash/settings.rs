//! What the configuration says about tasks.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use harness_model::{SandboxProfile, UnitSettings};

/// Makes a child's environment from what the call adds to it.
pub type EnvironmentOf = dyn Fn(&BTreeMap<String, String>) -> Vec<(String, String)> + Send + Sync;

/// `[bash]` and what it needs from beside it.
#[derive(Clone)]
pub struct BashSettings {
    /// The interpreter: `SHELL -c CMD`.
    pub shell: String,
    /// Where tasks run unless they say otherwise.
    pub workspace: PathBuf,
    /// Where the output files are: `ID.out` and `ID.err`.
    pub output_directory: PathBuf,
    /// The longest a call waits.
    pub max_wait: Duration,
    /// How many tasks may run at once.
    pub max_tasks: u64,
    /// What each output file may take on disk, in bytes.
    pub output_max: u64,
    /// The keys of a unit that hold where the call sets none.
    pub unit: UnitSettings,
    /// What a task may do with files and the network.
    pub sandbox: SandboxProfile,
    /// The environment of a task.
    pub environment: Arc<EnvironmentOf>,
}

impl fmt::Debug for BashSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BashSettings")
            .field("shell", &self.shell)
            .field("workspace", &self.workspace)
            .field("max_tasks", &self.max_tasks)
            .finish_non_exhaustive()
    }
}

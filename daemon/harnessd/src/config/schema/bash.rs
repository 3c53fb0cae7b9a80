//! `[bash]`

use harness_model::{ByteSize, TimeSpan, UnitSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Background tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bash {
    /// The shell, by name or absolute path; a command is run as `SHELL -c COMMAND`.
    pub shell: String,
    /// The longest `run` and `status` wait; a longer `wait_seconds` is cut to it.
    pub max_wait_sec: TimeSpan,
    /// How many tasks may run at once; further ones are refused.
    pub max_tasks: u32,
    /// How much of each output stream of a task stays on disk: the first MiB and the newest part.
    pub output_max: ByteSize,
    /// Defaults for each task.
    pub unit: UnitSettings,
}

impl Default for Bash {
    fn default() -> Self {
        Self {
            shell: "bash".to_owned(),
            max_wait_sec: TimeSpan::from_secs(30),
            max_tasks: 1000,
            output_max: ByteSize(256 << 20),
            unit: UnitSettings::default(),
        }
    }
}

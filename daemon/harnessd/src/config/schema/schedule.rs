//! `[script_schedule.NAME]`

use harness_model::TimeSpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A timer that runs a saved script without a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptSchedule {
    /// The saved script's name.
    pub script: String,
    /// How long after the start of the last run the next one is started.
    pub every_sec: TimeSpan,
    /// The script's input.
    #[serde(default)]
    pub input: serde_json::Map<String, serde_json::Value>,
}

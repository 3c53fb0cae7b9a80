//! The inputs of the tools, which are their schemas too.

use harness_model::WakeId;
use schemars::JsonSchema;
use serde::Deserialize;

fn default_limit() -> u32 {
    50
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Receive {
    /// Wait so long for a wake when none is due; at most 180.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub(super) wait_seconds: f64,
    /// How many at most, oldest first.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Acknowledge {
    /// The ids of the wakes that were dealt with.
    #[schemars(length(min = 1, max = 1000))]
    pub(super) ids: Vec<WakeId>,
}

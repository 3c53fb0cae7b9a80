//! `[turn]`

use harness_model::{Restart, TimeSpan, UnitSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs one agent turn when a wake is due, one at a time, with the due wakes as JSON on stdin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The program with its arguments. Exit code 0 acknowledges the wakes, anything else keeps
    /// them for the next try.
    pub command: Vec<String>,
    /// How it is supervised, the delay before the next try included. Keys that are not set: `restart = "on-failure"`,
    /// after 5 s that grows to 5 min in 6 steps, without a limit to the starts.
    #[serde(default)]
    pub unit: UnitSettings,
}

impl Turn {
    /// Tries again after failures with a delay that grows from 5 s to 5 min, and never gives up.
    #[must_use]
    pub fn default_unit() -> UnitSettings {
        UnitSettings {
            restart: Some(Restart::OnFailure),
            restart_sec: Some(TimeSpan::from_secs(5)),
            restart_steps: Some(6),
            restart_max_delay_sec: Some(TimeSpan::from_secs(300)),
            start_limit_interval_sec: Some(TimeSpan::ZERO),
            ..UnitSettings::default()
        }
    }
}

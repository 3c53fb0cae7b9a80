//! `[limits]`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// How many calls one script may make with the command `tools`, nested scripts included.
    pub script_calls: u32,
    /// How deep saved scripts may run one another.
    pub script_depth: u32,
    /// After this many identical calls in a row (tool and arguments) the next is refused with
    /// `ELOOP`; counted per session. 0 switches it off.
    pub identical_calls: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            script_calls: 50,
            script_depth: 4,
            identical_calls: 3,
        }
    }
}

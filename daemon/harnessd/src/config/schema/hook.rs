//! `[[hook]]`

use harness_model::TimeSpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

impl HookEvent {
    /// The word in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreCall => "pre_call",
            Self::PostCall => "post_call",
        }
    }
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HookEvent {
    /// Before a call is judged: it may allow it, rewrite its input, or deny it. It answers with nothing, `{"input":{…}}`
    /// or `{"decision":"deny","reason":"…"}`.
    #[serde(rename = "pre_call")]
    PreCall,
    /// After a call was carried out: it may let the result through, rewrite it, or withhold it. It answers with nothing,
    /// `{"result":{"content":[…],"structured":…,"is_error":…}}` or `{"decision":"withhold","reason":"…"}`.
    #[serde(rename = "post_call")]
    PostCall,
}

/// What happens when a hook fails: it cannot be started, does not exit with 0 in time, or is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// The call is refused, or its result withheld.
    #[default]
    Block,
    /// All goes on as if there were no such hook.
    Allow,
}

/// A program that is asked before or after calls, on every way they come in: one JSON object on its stdin, one or
/// nothing on its stdout. Hooks run in their order, each sees what the one before it wrote. It runs as the keeper's
/// user, in no sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// When it runs.
    pub event: HookEvent,
    /// Globs for the tools it is about, over `TOOL` and `GROUP__TOOL`.
    #[serde(default = "every_tool")]
    pub tools: Vec<String>,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// How long it may take; then it is killed with all that it started.
    #[serde(default = "five_seconds")]
    pub timeout_sec: TimeSpan,
    /// What happens when it fails.
    #[serde(default)]
    pub on_error: OnError,
}

fn every_tool() -> Vec<String> {
    vec!["*".to_owned()]
}

fn five_seconds() -> TimeSpan {
    TimeSpan::from_secs(5)
}

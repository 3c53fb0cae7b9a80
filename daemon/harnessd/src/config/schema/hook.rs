//! `[[hook]]`

use harness_model::TimeSpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HookEvent {
    /// Before a call is judged: it may allow it, rewrite its input, or deny it.
    #[serde(rename = "pre_call")]
    PreCall,
    /// After a call has ended.
    #[serde(rename = "post_call")]
    PostCall,
}

/// What happens when a hook fails or does not answer in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// The call is refused.
    #[default]
    Block,
    /// The call goes on as if there were no hook.
    Allow,
}

/// A program that is asked before, or told after, calls: JSON on its stdin, JSON on its stdout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// When it runs.
    pub event: HookEvent,
    /// Globs for the tools it is about.
    #[serde(default = "every_tool")]
    pub tools: Vec<String>,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// How long it may take.
    #[serde(default = "five_seconds")]
    pub timeout_sec: TimeSpan,
    /// What happens when it fails or does not answer in time.
    #[serde(default)]
    pub on_error: OnError,
}

fn every_tool() -> Vec<String> {
    vec!["*".to_owned()]
}

fn five_seconds() -> TimeSpan {
    TimeSpan::from_secs(5)
}

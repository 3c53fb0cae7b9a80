//! What a script did with the command `tools`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalId, ErrorCode};

/// What was reached, when a script was stopped or failed after it had changed something.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolsReport {
    /// The calls that may have changed something, in their order.
    pub done: Vec<NestedCall>,
    /// How many calls only read.
    pub read_only_calls: u32,
    /// Where it was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<ScriptStop>,
    /// What is left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reached: Option<String>,
}

/// One call of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NestedCall {
    /// As a command: `tools GROUP TOOL`.
    pub tool: String,
    /// Its input; cut when it is long.
    pub input: Value,
    /// It ran and succeeded.
    pub ok: bool,
    /// Its result or the error, cut when it is long.
    pub result: Value,
}

/// The call that stopped a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptStop {
    /// `needs_approval`, `call_limit` or `denied`.
    pub reason: ErrorCode,
    /// The question that a person has to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// Nothing of the script has run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before_start: bool,
    /// The call.
    pub call: StoppedCall,
    /// The line of the script that makes it, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A call that was not made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoppedCall {
    /// As a command: `tools GROUP TOOL`.
    pub tool: String,
    /// Its input; cut when it is long.
    pub input: Value,
}

impl ToolsReport {
    /// Whether somebody has to know of it even where the script itself says that all went well.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.done.is_empty() && self.read_only_calls == 0 && self.stopped.is_none()
    }

    /// One line for the model.
    #[must_use]
    pub fn headline(&self) -> String {
        let changes = self.done.len();
        let reads = self.read_only_calls;
        let made = format!(
            "{changes} tools calls that may have changed something, {reads} that only read"
        );
        let Some(stop) = &self.stopped else {
            return made;
        };
        let asked = stop
            .approval
            .map(|id| format!(" (approval {id})"))
            .unwrap_or_default();
        let begun = if stop.before_start {
            ", nothing of it has run"
        } else {
            ""
        };
        format!(
            "stopped at `{}`: {}{asked}{begun}; before that {made}",
            stop.call.tool, stop.reason
        )
    }
}

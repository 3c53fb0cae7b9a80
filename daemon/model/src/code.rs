//! Why a call did not do what was asked, in words that are the same on every front.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::words;

words! {
    /// The codes of every front.
    ErrorCode {
        /// No such server, tool, unit or endpoint; the message names the nearest.
        UnknownCommand = "unknown_command",
        /// The input is not an object or does not match the schema; the message shows the signature.
        InvalidInput = "invalid_input",
        /// The tool ran and failed.
        ToolError = "tool_error",
        /// Switched off, refused by a hook or a standing rejection, or a wrong token.
        Denied = "denied",
        /// A person must answer first.
        NeedsApproval = "needs_approval",
        /// An earlier call stopped this script.
        Stopped = "stopped",
        /// The server's credential or login is not there.
        ConnectionRequired = "connection_required",
        /// More calls than one script may make.
        CallLimit = "call_limit",
        /// It cannot run now.
        Unavailable = "unavailable",
        /// Sent, never answered.
        OutcomeUnknown = "outcome_unknown",
    }
}

/// A call that was not carried out, or not to its end: a value, not an error of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The code.
    pub code: ErrorCode,
    /// What is wrong and what to do next, in one line.
    pub message: String,
    /// Whether the same call can succeed later.
    pub retryable: bool,
    /// More for programs, such as an approval's id or a tool's own code (`ELOOP`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
}

impl Refusal {
    /// A refusal that is not retryable.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: false,
            details: None,
        }
    }

    /// The same, and later can help.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// The same with more for programs.
    #[must_use]
    pub fn with_details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The wire form of every front: `{"error":{"code":…,"message":…,"retryable":…}}`.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "error": self })
    }
}

//! Calls of tools: the request, its context, its outcome and its record.

use std::{fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Allowance, CallId, Delivery, Elicit, ErrorCode, Refusal, SessionId, Timestamp, unit::words,
};

words! {
    /// The way a call came in.
    Front {
        /// `mcp.sock` and the stdio bridge.
        Mcp = "mcp",
        /// `[mcp_http]`.
        McpHttp = "mcp-http",
        /// `control.sock`: `harnessctl`, the web page, `curl`.
        Http = "http",
        /// The command `tools` inside a run.
        Tools = "tools",
        /// D-Bus.
        Dbus = "dbus",
    }
}

words! {
    /// Where a call stands in the record.
    CallState {
        /// Recorded, not answered yet.
        Open = "open",
        /// It ran and succeeded.
        Ok = "ok",
        /// It ran and failed.
        Failed = "failed",
        /// It was not let through.
        Refused = "refused",
        /// Its client took it back.
        Cancelled = "cancelled",
        /// The daemon died while it was open: nobody knows, and it is never replayed.
        OutcomeUnknown = "outcome_unknown",
    }
}

/// What a front asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRequest {
    /// The group or server, where the caller named it; else the name alone has to be unique.
    pub group: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The input: a JSON object.
    pub input: Map<String, Value>,
}

/// Who calls, from where, and how to tell them of progress. Dropping the call's future cancels it.
#[derive(Clone)]
pub struct CallContext {
    /// The way it came in.
    pub front: Front,
    /// The connection; the loop breaker counts per session.
    pub session: SessionId,
    /// The caller as the socket tells it: a uid, or `None` over TCP.
    pub uid: Option<u32>,
    /// The call this one was made from, for nested calls.
    pub parent: Option<CallId>,
    /// The id that the caller chose for this call, to know its events by; else one is made.
    pub call: Option<CallId>,
    /// Where progress goes, if the caller wants it. Never blocks.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// What hangs on the result's arrival.
    pub delivery: Delivery,
    /// What the client put into the `_meta` of its request, for an MCP server behind the tool; without what
    /// belongs to the connection itself.
    pub meta: Option<Map<String, Value>>,
    /// How the person in front of the caller's own client is asked, if the client can.
    pub elicit: Option<Arc<dyn Elicit>>,
}

impl fmt::Debug for CallContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallContext")
            .field("front", &self.front)
            .field("session", &self.session)
            .field("uid", &self.uid)
            .field("parent", &self.parent)
            .finish_non_exhaustive()
    }
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Rises with each message.
    pub progress: f64,
    /// What `progress` reaches at the end, if that is known.
    pub total: Option<f64>,
    /// One line for a person.
    pub message: Option<String>,
}

/// A call on its way: resolved, validated, with an id.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The tool's group.
    pub group: String,
    /// The tool's name within the group.
    pub tool: String,
    /// The validated input.
    pub input: Map<String, Value>,
    /// When it came in.
    pub started_at: Timestamp,
    /// Set when an allowlist let it through, so that it runs within what was read.
    pub allowance: Option<Allowance>,
}

/// One piece of a tool's result (MCP `ContentBlock`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text for the model.
    Text {
        /// The text.
        text: String,
    },
    /// Any other kind, unchanged as MCP has it.
    #[serde(untagged)]
    Other(Value),
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<Content>,
    /// For programs; matches the tool's output schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The tool ran and failed.
    pub is_error: bool,
    /// What else the result of an MCP server holds, as it came: `isError`, `_meta` and whatever MCP does not
    /// know yet. `None`: the result is the harness's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Map<String, Value>>,
}

impl ToolOutput {
    /// A success with text for the model and the same for programs.
    #[must_use]
    pub fn new(text: impl Into<String>, structured: Value) -> Self {
        Self {
            content: vec![Content::Text { text: text.into() }],
            structured: Some(structured),
            is_error: false,
            rest: None,
        }
    }

    /// All text content, joined by line ends.
    #[must_use]
    pub fn text(&self) -> String {
        let parts = self.content.iter().filter_map(|content| match content {
            Content::Text { text } => Some(text.as_str()),
            // Text with annotations or `_meta`.
            Content::Other(value) if value["type"] == "text" => value["text"].as_str(),
            Content::Other(_) => None,
        });
        parts.collect::<Vec<_>>().join("\n")
    }
}

/// How a call ended: a refusal is a value, and so is a tool that ran and failed.
pub type Outcome = Result<ToolOutput, Refusal>;

/// A call as the record and the API show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallRecord {
    /// Its id.
    pub id: CallId,
    /// The call it was made from.
    pub parent: Option<CallId>,
    /// The connection it came over.
    pub session: SessionId,
    /// The way it came in.
    pub front: Front,
    /// The tool's group.
    pub group: String,
    /// The tool's name.
    pub tool: String,
    /// The input as it is carried out, as JSON; cut when it is long.
    pub input: Value,
    /// The input as it was asked for, where a hook rewrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Value>,
    /// Where it stands.
    pub state: CallState,
    /// Why it was refused.
    pub code: Option<ErrorCode>,
    /// The first characters of the text result or of the refusal.
    pub preview: Option<String>,
    /// When it came in.
    pub started_at: Timestamp,
    /// From then to its answer, in microseconds of the monotonic clock.
    pub duration_usec: Option<u64>,
}

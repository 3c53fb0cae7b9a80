//! What happened, for those who watch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ActiveState, Approval, ApprovalId, ApprovalState, CallId, CallState, ErrorCode, Front,
    PluginStatus, Stream, SubState, Timestamp, UnitId, UnitKind, UnitResult, Wake,
};

/// One event. Sequence numbers rise by one and start again with the daemon; `boot` tells the starts apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its number.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// A unit's change of state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnitChange {
    /// The unit.
    pub unit: UnitId,
    /// What it is for.
    pub kind: UnitKind,
    /// Its state now.
    pub active_state: ActiveState,
    /// Its state now, finer.
    pub sub_state: SubState,
    /// Its result so far.
    pub result: UnitResult,
    /// How often it was restarted by itself.
    pub restarts: u32,
    /// It has come to rest.
    pub ended: bool,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventBody {
    /// A call was recorded and runs. When a hook rewrites its input, a second one of the same call says so.
    ToolCall {
        /// The call.
        call: CallId,
        /// The call it was made from.
        parent: Option<CallId>,
        /// The way it came in.
        front: Front,
        /// The tool's group.
        group: String,
        /// The tool's name.
        tool: String,
        /// Its input; cut when it is long.
        input: Value,
        /// The input as it was asked for, when a hook has rewritten it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<Value>,
    },
    /// A call was answered.
    ToolResult {
        /// The call.
        call: CallId,
        /// How it ended.
        state: CallState,
        /// Why it was refused.
        code: Option<ErrorCode>,
        /// From its start, in microseconds.
        duration_usec: u64,
    },
    /// A script's call by the command `tools` was answered.
    NestedCall {
        /// The call that runs the script.
        parent: Option<CallId>,
        /// The call.
        call: CallId,
        /// As a command: `tools GROUP TOOL`.
        command: String,
        /// Its input; cut when it is long.
        input: Value,
        /// How it ended.
        state: CallState,
        /// Why it was refused.
        code: Option<ErrorCode>,
        /// From its start, in microseconds.
        duration_usec: u64,
    },
    /// Live output of a unit: best effort, never stored.
    ShellOutput {
        /// The call whose output it is.
        call: CallId,
        /// The unit.
        unit: UnitId,
        /// Which stream.
        stream: Stream,
        /// Where it begins in the stream, in bytes; what lies before and was not published is missing.
        offset: u64,
        /// The new text.
        delta: String,
    },
    /// A person is asked.
    ApprovalRequested(Approval),
    /// A question was answered, or nobody answered it in time.
    ApprovalResolved {
        /// The question.
        approval: ApprovalId,
        /// Where it stands now.
        state: ApprovalState,
        /// Who answered.
        answered_by: Option<String>,
    },
    /// A unit changed.
    UnitChanged(UnitChange),
    /// An MCP server or plugin came, went or changed.
    PluginChanged(PluginStatus),
    /// A wake is due.
    Wake(Wake),
    /// Events were dropped for this reader, who was too slow or came too late.
    Dropped {
        /// How many.
        count: u64,
    },
}

impl EventBody {
    /// The event's name, as SSE and the trace have it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::NestedCall { .. } => "nested_call",
            Self::ShellOutput { .. } => "shell_output",
            Self::ApprovalRequested(_) => "approval_requested",
            Self::ApprovalResolved { .. } => "approval_resolved",
            Self::UnitChanged(_) => "unit_changed",
            Self::PluginChanged(_) => "plugin_changed",
            Self::Wake(_) => "wake",
            Self::Dropped { .. } => "dropped",
        }
    }
}

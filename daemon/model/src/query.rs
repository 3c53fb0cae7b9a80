//! Lists: what a reader asks for, and the page that answers it.
//!
//! Every list is newest first. `before` takes the `next` of the page before; a filter may leave a
//! page short, even empty, while `next` says that there is more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ActiveState, CallId, CallState, ExitReport, InvocationId, SessionId, TaskState, Timestamp,
    UnitKind,
};

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// The entries, newest first.
    pub items: Vec<T>,
    /// Where the next page begins; none when this is the last.
    pub next: Option<i64>,
}

impl<T> Page<T> {
    /// How many entries a page has when nobody asks for a number.
    pub const DEFAULT_LIMIT: u32 = 100;
    /// How many entries a page has at most; a larger wish is clamped.
    pub const MAX_LIMIT: u32 = 1000;
}

/// What a list of tasks is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskQuery {
    /// How many entries, 1 to 1000; default 100, a larger number is clamped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only what is older than this: the `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// Only tasks in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
}

/// What a list of units is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitQuery {
    /// How many entries, 1 to 1000; default 100, a larger number is clamped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only what is older than this: the `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// Only units of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<UnitKind>,
    /// Only units in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ActiveState>,
}

/// What a list of calls is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallQuery {
    /// How many entries, 1 to 1000; default 100, a larger number is clamped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only what is older than this: the `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// Only calls that were made from this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// Only calls of this connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Only calls of the tool with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only calls in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CallState>,
}

/// One run of a unit's main process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invocation {
    /// Its id, which the process has as `INVOCATION_ID`.
    pub id: InvocationId,
    /// When its process was started; none if that was not recorded.
    pub started_at: Option<Timestamp>,
    /// How it ended; none while it runs or when nobody knows.
    pub exit: Option<ExitReport>,
}

//! The nouns of harnessd.
//!
//! Every type that crosses two rooms or two wires lives here: ids, tools, calls, units, wakes,
//! events and error codes. The crate does no I/O, has no clock and no async runtime; it only says
//! what things are, how they are written as JSON or TOML, and which values are valid.

mod allowance;
mod approval;
mod bytes;
mod call;
mod card;
mod code;
mod delivery;
mod elicit;
pub mod escape;
mod event;
mod exit;
mod id;
mod journal;
mod nested;
mod plugin;
mod query;
mod run;
mod sandbox;
mod server_sent;
mod settings;
mod signal;
mod status;
mod task;
mod time;
mod tool;
mod unit;
mod wake;

pub use allowance::Allowance;
pub use approval::{
    Answer, Approval, ApprovalId, ApprovalState, ExplainedHook, ExplainedRule, Explanation,
    Question, Scope, Standing,
};
pub use bytes::{ByteSize, CpuQuota, Limit, ParseBytesError};
pub use call::{
    Call, CallContext, CallRecord, CallRequest, CallState, Content, Front, Outcome, Progress,
    ToolOutput,
};
pub use code::{ErrorCode, Refusal};
pub use delivery::Delivery;
pub use elicit::{Elicit, Elicited};
pub use event::{Event, EventBody, UnitChange};
pub use exit::{ExitReport, ExitStatus, ExitStatusSet, ParseExitStatusError, Usage};
pub use id::{CallId, IdError, InvocationId, SessionId, UnitId, WakeId};
pub use journal::{NewUnit, REDACTED, StoredUnit, Transition};
pub use nested::{NestedCall, ScriptStop, StoppedCall, ToolsReport};
pub use plugin::{PluginKind, PluginLog, PluginStatus};
pub use query::{CallQuery, Invocation, Page, TaskQuery, UnitQuery};
pub use run::RunInput;
pub use sandbox::{Filesystem, SandboxProfile, SandboxRequest, SandboxRules};
pub use server_sent::{OverlongEvent, ServerSentEvent, ServerSentReader};
pub use settings::{SettingsError, UnitPolicy, UnitSettings};
pub use signal::{ParseSignalError, Signal};
pub use status::{Enforcement, HarnessStatus, KeeperStatus, TaskCounts};
pub use task::{Gap, OutputChunk, Stream, StreamStatus, TaskState, TaskStatus};
pub use time::{ParseTimeSpanError, TimeSpan, Timestamp};
pub use tool::{Annotations, Tool, ToolRating};
pub use unit::{
    ActiveState, KillMode, OomPolicy, Restart, SubState, UnitKind, UnitResult, UnitState,
    UnitStatus,
};
pub use wake::Wake;

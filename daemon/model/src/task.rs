//! Background tasks as their tools and the API show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ActiveState, Signal, SubState, Timestamp, UnitId, UnitResult, Usage, unit::words};

words! {
    /// A task's state in one word, for agents.
    TaskState {
        /// Recorded, not started yet.
        Pending = "pending",
        /// It runs, or waits for its restart.
        Running = "running",
        /// It ended by itself.
        Done = "done",
        /// `timeout_secs` or `runtime_max_sec` passed, and it was ended.
        TimedOut = "timed_out",
        /// The keeper or the machine went away under it; nobody knows how it ended.
        Interrupted = "interrupted",
        /// Somebody ended it.
        Stopped = "stopped",
    }
}

impl TaskState {
    /// Whether it has come to rest: it runs no more unless somebody starts it again.
    #[must_use]
    pub const fn has_ended(self) -> bool {
        match self {
            Self::Pending | Self::Running => false,
            Self::Done | Self::TimedOut | Self::Interrupted | Self::Stopped => true,
        }
    }
}

words! {
    /// One of a unit's two output files.
    Stream {
        /// Standard output.
        Stdout = "stdout",
        /// Standard error.
        Stderr = "stderr",
    }
}

/// Bytes of an output file that were freed to keep it within `output_max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// Where the hole begins, in bytes from the start of the stream.
    pub offset: u64,
    /// How long it is, in bytes.
    pub length: u64,
}

/// One output stream of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamStatus {
    /// Its last 4 KiB, as valid UTF-8 without escape sequences.
    pub tail: String,
    /// The file that holds all of it.
    pub path: String,
    /// Its length in bytes, the gap included.
    pub bytes: u64,
    /// What was freed of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

/// A task's full status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStatus {
    /// Its id.
    pub id: UnitId,
    /// The name its maker gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The command.
    pub cmd: String,
    /// Its state in one word.
    pub status: TaskState,
    /// The exit code; none unless it exited.
    pub exit_code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<Signal>,
    /// systemd's `Result`.
    pub result: UnitResult,
    /// systemd's `ActiveState`.
    pub active_state: ActiveState,
    /// systemd's `SubState`.
    pub sub_state: SubState,
    /// How often it was restarted by itself.
    pub restarts: u32,
    /// From its first start to its end or to now, in seconds.
    pub duration_secs: f64,
    /// When it was first started.
    pub started_at: Option<Timestamp>,
    /// Standard output.
    pub stdout: StreamStatus,
    /// Standard error.
    pub stderr: StreamStatus,
    /// What the last run used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Processes it left behind, which were ended with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_over: Option<u32>,
    /// Processes that even the final signal did not end.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub survivors: Vec<String>,
    /// Why it could not be started, or what is not enforced for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A piece of an output stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputChunk {
    /// The task.
    pub id: UnitId,
    /// Which stream.
    pub stream: Stream,
    /// Where the text begins, in bytes; past the gap when the asked offset lay in it.
    pub offset: u64,
    /// Where to read on.
    pub next_offset: u64,
    /// The stream's length now, in bytes.
    pub bytes: u64,
    /// The text; bytes that are not UTF-8 are shown as U+FFFD, a character is never split.
    pub text: String,
    /// What was freed of the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// The task has ended and this reaches the end.
    pub eof: bool,
}

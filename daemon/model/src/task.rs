//! Background tasks as their tools and the API show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ActiveState, Signal, SubState, Timestamp, ToolsReport, UnitId, UnitResult, UnitState, Usage,
    unit::words,
};

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
    /// The one word for a unit's state.
    ///
    /// systemd's result is `timeout` for a stop that took the final signal too: one that somebody asked for is
    /// `stopped`, and a task whose processes needed it after its own end is `done`.
    #[must_use]
    pub fn of(state: &UnitState) -> Self {
        if !state.is_final() {
            return match state.started_at {
                Some(_) => Self::Running,
                None => Self::Pending,
            };
        }
        if state.interrupted {
            Self::Interrupted
        } else if state.stop_requested {
            Self::Stopped
        } else if state.runtime_exceeded {
            Self::TimedOut
        } else {
            Self::Done
        }
    }

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
    /// The sandbox rules it ran under, when it failed or was refused an access.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub containment: Option<String>,
    /// What it did by the command `tools`, when it was stopped or failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tools: Option<Box<ToolsReport>>,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn running() -> UnitState {
        UnitState {
            active_state: ActiveState::Active,
            sub_state: SubState::Running,
            started_at: Some(Timestamp::from_micros(1)),
            ..UnitState::new()
        }
    }

    fn ended(result: UnitResult) -> UnitState {
        let failed = result != UnitResult::Success;
        UnitState {
            active_state: if failed {
                ActiveState::Failed
            } else {
                ActiveState::Inactive
            },
            sub_state: if failed {
                SubState::Failed
            } else {
                SubState::Dead
            },
            result,
            ended_at: Some(Timestamp::from_micros(2)),
            ..running()
        }
    }

    #[test]
    fn a_task_is_pending_until_it_was_started_and_running_until_it_rests() {
        assert_eq!(TaskState::of(&UnitState::new()), TaskState::Pending);
        assert_eq!(TaskState::of(&running()), TaskState::Running);
        let waiting = UnitState {
            active_state: ActiveState::Activating,
            sub_state: SubState::AutoRestart,
            result: UnitResult::Timeout,
            interrupted: true,
            ..running()
        };
        assert_eq!(TaskState::of(&waiting), TaskState::Running);
    }

    #[test]
    fn a_task_that_ended_by_itself_is_done_whatever_its_result() {
        for result in UnitResult::ALL {
            assert_eq!(TaskState::of(&ended(*result)), TaskState::Done, "{result}");
        }
    }

    #[test]
    fn a_task_whose_time_was_over_is_timed_out() {
        let state = UnitState {
            runtime_exceeded: true,
            ..ended(UnitResult::Timeout)
        };
        assert_eq!(TaskState::of(&state), TaskState::TimedOut);
    }

    #[test]
    fn a_stop_that_was_asked_for_is_stopped_even_when_it_took_the_final_signal() {
        for result in [UnitResult::Success, UnitResult::Signal, UnitResult::Timeout] {
            let state = UnitState {
                stop_requested: true,
                runtime_exceeded: true,
                ..ended(result)
            };
            assert_eq!(TaskState::of(&state), TaskState::Stopped, "{result}");
        }
    }

    #[test]
    fn an_end_that_nobody_saw_is_interrupted() {
        let state = UnitState {
            interrupted: true,
            stop_requested: true,
            ..ended(UnitResult::Timeout)
        };
        assert_eq!(TaskState::of(&state), TaskState::Interrupted);
    }
}

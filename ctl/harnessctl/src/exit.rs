//! Exit codes.

use std::process::ExitCode;

use harness_model::{Signal, TaskState, TaskStatus};
use serde_json::Value;

/// The end of `harnessctl --help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0    done
  1    the harness refused or failed, or the output could not be written
  2    the command line is wrong
  3    no harness could be reached
`wait`, `run --wait`, `run --follow` and `shell` end with the exit code of the task or command, or with
  75   the task still runs at the end of the wait, or no wake came (`wakes --wait`)
  124  it was ended by its timeout
  125  it could not be started, or nobody knows how it ended
  128+N  signal N ended it";

/// An exit code of `harnessctl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    pub(crate) const DONE: Self = Self(0);
    pub(crate) const FAILED: Self = Self(1);
    pub(crate) const USAGE: Self = Self(2);
    pub(crate) const UNREACHABLE: Self = Self(3);
    /// `EX_TEMPFAIL` of sysexits.h.
    pub(crate) const NOT_YET: Self = Self(75);
    /// As timeout(1) has it.
    pub(crate) const TIMED_OUT: Self = Self(124);
    /// As timeout(1) has it for failures of its own.
    const UNKNOWN: Self = Self(125);

    /// The code that tells how a command ended, from its result.
    pub(crate) fn of_shell(result: &Value) -> Self {
        let code = result["exitCode"].as_u64();
        let signal = || result["signal"].as_str()?.parse::<Signal>().ok();
        let code = match code {
            Some(code) => u8::try_from(code).ok(),
            None => signal().and_then(|signal| u8::try_from(128 + signal.number()).ok()),
        };
        code.map_or(Self::UNKNOWN, Self)
    }

    /// The code that tells how a task stands.
    pub(crate) fn of_task(status: &TaskStatus) -> Self {
        match status.status {
            TaskState::Pending | TaskState::Running => Self::NOT_YET,
            TaskState::TimedOut => Self::TIMED_OUT,
            TaskState::Interrupted => Self::UNKNOWN,
            TaskState::Done | TaskState::Stopped => match (status.exit_code, status.signal) {
                (Some(code), _) => Self(code),
                (None, Some(signal)) => {
                    Self(u8::try_from(128 + signal.number()).unwrap_or(u8::MAX))
                }
                (None, None) => Self::UNKNOWN,
            },
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

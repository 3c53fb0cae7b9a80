//! Colour, on a terminal alone.

use std::io::{self, IsTerminal as _};

use harness_model::{ActiveState, CallState, TaskState, TaskStatus};

/// What the output may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Standard output is a terminal.
    pub(crate) terminal: bool,
    /// Colour is wanted: a terminal, and `$NO_COLOR` is not set (no-color.org).
    colour: bool,
    /// How wide the terminal is, in columns.
    pub(crate) width: Option<usize>,
}

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Busy,
    Faint,
}

impl Style {
    pub(crate) fn of_stdout() -> Self {
        let terminal = io::stdout().is_terminal();
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let size = terminal.then(terminal_size::terminal_size).flatten();
        Self {
            terminal,
            colour: terminal && !refused && !dumb,
            width: size.map(|(width, _)| usize::from(width.0)),
        }
    }

    #[cfg(test)]
    pub(crate) fn plain(width: Option<usize>) -> Self {
        Self {
            terminal: width.is_some(),
            colour: false,
            width,
        }
    }

    /// The text in its tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Busy => "33",
            Tone::Faint => "2",
        };
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

impl Tone {
    pub(crate) fn of_task(status: &TaskStatus) -> Self {
        match status.status {
            TaskState::Pending => Self::Busy,
            TaskState::Running => Self::Good,
            TaskState::TimedOut | TaskState::Interrupted => Self::Bad,
            TaskState::Done | TaskState::Stopped => Self::of_active(status.active_state),
        }
    }

    pub(crate) fn of_active(state: ActiveState) -> Self {
        match state {
            ActiveState::Active => Self::Good,
            ActiveState::Activating | ActiveState::Deactivating => Self::Busy,
            ActiveState::Failed => Self::Bad,
            ActiveState::Inactive => Self::Plain,
        }
    }

    pub(crate) fn of_call(state: CallState) -> Self {
        match state {
            CallState::Open => Self::Busy,
            CallState::Ok => Self::Good,
            CallState::Cancelled => Self::Plain,
            CallState::Failed | CallState::Refused | CallState::OutcomeUnknown => Self::Bad,
        }
    }
}

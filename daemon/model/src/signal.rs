//! Signals by name, as systemd writes them.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The numbers are those of Linux on `x86_64` and `aarch64`, which agree.
const NAMES: [(&str, i32); 31] = [
    ("SIGHUP", 1),
    ("SIGINT", 2),
    ("SIGQUIT", 3),
    ("SIGILL", 4),
    ("SIGTRAP", 5),
    ("SIGABRT", 6),
    ("SIGBUS", 7),
    ("SIGFPE", 8),
    ("SIGKILL", 9),
    ("SIGUSR1", 10),
    ("SIGSEGV", 11),
    ("SIGUSR2", 12),
    ("SIGPIPE", 13),
    ("SIGALRM", 14),
    ("SIGTERM", 15),
    ("SIGSTKFLT", 16),
    ("SIGCHLD", 17),
    ("SIGCONT", 18),
    ("SIGSTOP", 19),
    ("SIGTSTP", 20),
    ("SIGTTIN", 21),
    ("SIGTTOU", 22),
    ("SIGURG", 23),
    ("SIGXCPU", 24),
    ("SIGXFSZ", 25),
    ("SIGVTALRM", 26),
    ("SIGPROF", 27),
    ("SIGWINCH", 28),
    ("SIGIO", 29),
    ("SIGPWR", 30),
    ("SIGSYS", 31),
];

/// The largest real-time signal.
const LAST: i32 = 64;

/// A signal's number, 1 to 64. Written by name where it has one (`SIGTERM`), else as `SIGRTMIN+N`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "SignalText", into = "String")]
#[schemars(with = "String")]
pub struct Signal(i32);

/// The text or number is not a signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a signal: expected a name like \"SIGTERM\" or \"TERM\", or a number from 1 to 64"
)]
pub struct ParseSignalError(pub String);

impl Signal {
    /// `SIGHUP`
    pub const HUP: Self = Self(1);
    /// `SIGINT`
    pub const INT: Self = Self(2);
    /// `SIGABRT`
    pub const ABRT: Self = Self(6);
    /// `SIGKILL`
    pub const KILL: Self = Self(9);
    /// `SIGPIPE`
    pub const PIPE: Self = Self(13);
    /// `SIGTERM`
    pub const TERM: Self = Self(15);
    /// `SIGCONT`
    pub const CONT: Self = Self(18);

    /// A signal by number, if it is one.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        (1..=LAST).contains(&number).then_some(Self(number))
    }

    /// The kernel's number.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => formatter.write_str(name),
            None if self.0 >= 34 => write!(formatter, "SIGRTMIN+{}", self.0 - 34),
            None => write!(formatter, "{}", self.0),
        }
    }
}

impl FromStr for Signal {
    type Err = ParseSignalError;

    fn from_str(text: &str) -> Result<Self, ParseSignalError> {
        let error = || ParseSignalError(text.chars().take(80).collect());
        if let Ok(number) = text.parse::<i32>() {
            return Self::from_number(number).ok_or_else(error);
        }
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        if let Some(offset) = name.strip_prefix("RTMIN") {
            let offset =
                offset
                    .strip_prefix('+')
                    .unwrap_or(if offset.is_empty() { "0" } else { "-" });
            let offset: i32 = offset.parse().map_err(|_| error())?;
            return (0..=30)
                .contains(&offset)
                .then_some(Self(34 + offset))
                .ok_or_else(error);
        }
        NAMES
            .iter()
            .find(|(known, _)| &known[3..] == name)
            .map(|(_, number)| Self(*number))
            .ok_or_else(error)
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a signal: a name like \"SIGTERM\", or a number from 1 to 64"
)]
enum SignalText {
    Number(i32),
    Name(String),
}

impl TryFrom<SignalText> for Signal {
    type Error = ParseSignalError;

    fn try_from(text: SignalText) -> Result<Self, ParseSignalError> {
        match text {
            SignalText::Number(number) => {
                Self::from_number(number).ok_or_else(|| ParseSignalError(number.to_string()))
            }
            SignalText::Name(name) => name.parse(),
        }
    }
}

impl From<Signal> for String {
    fn from(signal: Signal) -> Self {
        signal.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_reads_back_from_its_own_name() {
        for number in 1..=64 {
            let signal = Signal::from_number(number).unwrap();
            assert_eq!(signal.to_string().parse(), Ok(signal), "{number}");
        }
    }

    #[test]
    fn a_name_without_its_prefix_and_in_lower_case_is_understood() {
        assert_eq!("term".parse(), Ok(Signal::TERM));
        assert_eq!("SIGRTMIN".parse::<Signal>().unwrap().number(), 34);
    }

    #[test]
    fn what_is_no_signal_is_refused() {
        for text in ["", "0", "65", "-9", "SIGNOPE", "RTMIN-1", "RTMIN+31", "9 "] {
            assert!(text.parse::<Signal>().is_err(), "{text:?}");
        }
    }
}

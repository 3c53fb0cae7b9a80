//! How a process ended.

use std::{collections::BTreeSet, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Signal, Timestamp};

/// How a main process ended, as wait(2) tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It called exit with this code, 0 to 255.
    Exited(u8),
    /// A signal ended it.
    Signaled {
        /// The signal.
        signal: Signal,
        /// It left a core dump.
        core_dump: bool,
    },
}

/// What the process and its waited-for children used, as getrusage(2) tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU time in user mode, in microseconds.
    pub user_usec: u64,
    /// CPU time in the kernel, in microseconds.
    pub system_usec: u64,
    /// The largest resident set of any one process, in bytes.
    pub max_rss_bytes: u64,
}

/// The end of one invocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExitReport {
    /// How the main process ended.
    pub status: ExitStatus,
    /// When it did.
    pub ended_at: Timestamp,
    /// From the start of the main process to its end, in microseconds of the monotonic clock.
    pub runtime_usec: u64,
    /// What it used.
    pub usage: Usage,
    /// The kernel killed something of this unit for want of memory.
    pub oom_killed: bool,
    /// Processes of the tree that were still there when the main process ended.
    pub left_over: u32,
    /// Pids that were there even after the final signal, with their names: normally empty.
    pub survivors: Vec<String>,
}

/// Exit codes and signals, as in systemd's `SuccessExitStatus=`: `[3, "TEMPFAIL", "SIGUSR1"]` or `"3 TEMPFAIL"`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SetText", into = "Vec<Item>")]
#[schemars(with = "SetText")]
pub struct ExitStatusSet {
    codes: BTreeSet<u8>,
    signals: BTreeSet<Signal>,
}

/// An entry is neither an exit code, a name of one, nor a signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not an exit status: expected 0 to 255, a name like \"TEMPFAIL\", or a signal like \"SIGUSR1\""
)]
pub struct ParseExitStatusError(pub String);

impl ExitStatusSet {
    /// Whether `status` is one of them. A core dump counts as its signal.
    #[must_use]
    pub fn contains(&self, status: ExitStatus) -> bool {
        match status {
            ExitStatus::Exited(code) => self.codes.contains(&code),
            ExitStatus::Signaled { signal, .. } => self.signals.contains(&signal),
        }
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty() && self.signals.is_empty()
    }

    fn insert(&mut self, text: &str) -> Result<(), ParseExitStatusError> {
        if let Ok(code) = text.parse::<u8>() {
            self.codes.insert(code);
        } else if let Some((_, code)) = EXIT_NAMES.iter().find(|(name, _)| *name == text) {
            self.codes.insert(*code);
        } else if let Some(signal) = text
            .starts_with(|c: char| c.is_ascii_alphabetic())
            .then(|| text.parse().ok())
            .flatten()
        {
            self.signals.insert(signal);
        } else {
            return Err(ParseExitStatusError(text.chars().take(80).collect()));
        }
        Ok(())
    }
}

impl FromStr for ExitStatusSet {
    type Err = ParseExitStatusError;

    fn from_str(text: &str) -> Result<Self, ParseExitStatusError> {
        let mut set = Self::default();
        text.split_whitespace()
            .try_for_each(|word| set.insert(word))?;
        Ok(set)
    }
}

impl fmt::Display for ExitStatusSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = self.codes.iter().map(ToString::to_string);
        let words: Vec<_> = codes
            .chain(self.signals.iter().map(ToString::to_string))
            .collect();
        formatter.write_str(&words.join(" "))
    }
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected an exit code, a name of one, or a signal"
)]
enum Item {
    /// An exit code.
    Code(i64),
    /// A name of one, or a signal.
    Name(String),
}

#[derive(Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected exit codes and signals, as in [3, \"TEMPFAIL\"] or \"3 TEMPFAIL\""
)]
enum SetText {
    /// One exit code.
    Code(i64),
    /// Separated by spaces.
    Text(String),
    /// One by one.
    List(Vec<Item>),
}

impl TryFrom<SetText> for ExitStatusSet {
    type Error = ParseExitStatusError;

    fn try_from(text: SetText) -> Result<Self, ParseExitStatusError> {
        match text {
            SetText::Code(code) => code.to_string().parse(),
            SetText::Text(text) => text.parse(),
            SetText::List(items) => {
                let mut set = Self::default();
                for item in items {
                    match item {
                        Item::Code(code) => set.insert(&code.to_string())?,
                        Item::Name(name) => set.insert(&name)?,
                    }
                }
                Ok(set)
            }
        }
    }
}

impl From<ExitStatusSet> for Vec<Item> {
    fn from(set: ExitStatusSet) -> Self {
        let codes = set.codes.into_iter().map(|code| Item::Code(code.into()));
        codes
            .chain(
                set.signals
                    .into_iter()
                    .map(|signal| Item::Name(signal.to_string())),
            )
            .collect()
    }
}

/// The names of systemd.exec(5), "Process Exit Codes": sysexits.h and those LSB defines.
const EXIT_NAMES: [(&str, u8); 24] = [
    ("SUCCESS", 0),
    ("FAILURE", 1),
    ("INVALIDARGUMENT", 2),
    ("NOTIMPLEMENTED", 3),
    ("NOPERMISSION", 4),
    ("NOTINSTALLED", 5),
    ("NOTCONFIGURED", 6),
    ("NOTRUNNING", 7),
    ("USAGE", 64),
    ("DATAERR", 65),
    ("NOINPUT", 66),
    ("NOUSER", 67),
    ("NOHOST", 68),
    ("UNAVAILABLE", 69),
    ("SOFTWARE", 70),
    ("OSERR", 71),
    ("OSFILE", 72),
    ("CANTCREAT", 73),
    ("IOERR", 74),
    ("TEMPFAIL", 75),
    ("PROTOCOL", 76),
    ("NOPERM", 77),
    ("CONFIG", 78),
    ("EXEC", 203),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_takes_codes_names_and_signals_as_list_or_text() {
        let text: ExitStatusSet = "3 TEMPFAIL SIGUSR1".parse().unwrap();
        let list: ExitStatusSet = serde_json::from_str(r#"[3, "TEMPFAIL", "SIGUSR1"]"#).unwrap();
        assert_eq!(text, list);
        let one: ExitStatusSet = serde_json::from_str("3").unwrap();
        assert_eq!(one, "3".parse().unwrap());
        assert!(serde_json::from_str::<ExitStatusSet>("300").is_err());
        assert!(text.contains(ExitStatus::Exited(75)));
        assert!(!text.contains(ExitStatus::Exited(0)));
        let usr1 = ExitStatus::Signaled {
            signal: "USR1".parse().unwrap(),
            core_dump: false,
        };
        assert!(text.contains(usr1));
    }

    #[test]
    fn a_set_reads_back_from_its_json() {
        let set: ExitStatusSet = "0 255 SIGKILL".parse().unwrap();
        let json = serde_json::to_string(&set).unwrap();
        assert_eq!(serde_json::from_str::<ExitStatusSet>(&json).unwrap(), set);
        assert_eq!(set.to_string().parse(), Ok(set));
    }

    #[test]
    fn a_wrong_entry_is_named() {
        for text in ["256", "-1", "NOPE", "3x"] {
            let error = text.parse::<ExitStatusSet>().unwrap_err();
            assert_eq!(error, ParseExitStatusError(text.to_owned()));
        }
    }
}

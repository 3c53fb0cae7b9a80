//! One entry of an allowlist.

use std::fmt;
use std::str::FromStr;

use crate::scan::Command;
use crate::word::{Word, WordKind};

/// A pattern for a command, word by word: `git status`, `cargo *`, `npm run test:*`.
///
/// - Words are separated by blanks. There is no quoting.
/// - A word `*` at the end stands for the rest: no word, or any number of words, known or not.
/// - Anywhere else a word stands for exactly one word whose value is known. In it `*` matches any
///   characters, the slash among them, and `?` any one. In the first word, the command's name, they
///   do not match a slash.
/// - The name is compared as it is written: `git` does not match `./git` or `/usr/bin/git`.
/// - Assignments before the name and redirections are not part of the comparison; they are judged on
///   their own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    words: Vec<String>,
    has_rest: bool,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternError {
    /// There is no word in it.
    Empty,
    /// A control or invisible character, which nobody who reads the list would see.
    Character(char),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                f.write_str("the pattern is empty: write at least the name of a command")
            }
            Self::Character(c) => {
                write!(
                    f,
                    "the pattern holds the invisible character U+{:04X}: remove it",
                    u32::from(*c)
                )
            }
        }
    }
}

impl std::error::Error for PatternError {}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))?;
        match (self.has_rest, self.words.is_empty()) {
            (true, true) => f.write_str("*"),
            (true, false) => f.write_str(" *"),
            (false, _) => Ok(()),
        }
    }
}

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if let Some(c) = text
            .chars()
            .find(|c| crate::lexer::is_confusable(*c) || *c == '\n')
        {
            return Err(PatternError::Character(c));
        }
        let mut words: Vec<String> = text
            .split([' ', '\t'])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        if words.is_empty() {
            return Err(PatternError::Empty);
        }
        let has_rest = words.pop_if(|word| word == "*").is_some();
        Ok(Self { words, has_rest })
    }

    /// Whether the command's words match.
    #[must_use]
    pub fn matches(&self, command: &Command) -> bool {
        let words = &command.words;
        // Most entries of a list are about another program.
        if let (Some(pattern), Some(name)) = (self.words.first(), command.name())
            && let (Some(first), Some(byte)) = (pattern.as_bytes().first(), name.as_bytes().first())
            && first != byte
            && !matches!(first, b'*' | b'?')
        {
            return false;
        }
        if words.len() < self.words.len() || (!self.has_rest && words.len() > self.words.len()) {
            return false;
        }
        // Even when everything matches, a name that is not known is no name.
        command.name().is_some()
            && self
                .words
                .iter()
                .zip(words)
                .enumerate()
                .all(|(at, (pattern, word))| matches_word(pattern, word, at == 0))
    }
}

fn matches_word(pattern: &str, word: &Word, is_name: bool) -> bool {
    match &word.kind {
        WordKind::Literal(text) => glob(pattern.as_bytes(), text.as_bytes(), is_name),
        WordKind::Glob { .. } | WordKind::Dynamic { .. } => false,
    }
}

/// Matches `*` and `?`; after a mismatch only the last `*` is tried again, so that the time is at
/// most the product of the lengths.
fn glob(pattern: &[u8], text: &[u8], is_name: bool) -> bool {
    let wild = |byte: u8| !(is_name && byte == b'/');
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t).copied() {
        match pattern.get(p).copied() {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some(b'?') if wild(byte) => {
                // One character, not one byte.
                p += 1;
                t += 1;
                while text.get(t).is_some_and(|next| next & 0xc0 == 0x80) {
                    t += 1;
                }
                continue;
            }
            Some(expected)
                if expected == byte && byte != b'?'
                    || pattern.get(p) == Some(&b'?') && byte == b'?' =>
            {
                p += 1;
                t += 1;
                continue;
            }
            _ => {}
        }
        match star {
            Some((at, from)) if text.get(from).copied().is_some_and(wild) => {
                star = Some((at, from + 1));
                p = at + 1;
                t = from + 1;
            }
            _ => return false,
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|byte| *byte == b'*')
}

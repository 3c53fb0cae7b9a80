//! The way to a value: `mcp.github.command[0]`.

use std::fmt::Write as _;

/// One step of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Into a table.
    Key(String),
    /// Into an array, counted from 0.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<&String> for Step {
    fn from(key: &String) -> Self {
        Self::Key(key.clone())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A path from keys and indices.
macro_rules! steps {
    ($($step:expr),* $(,)?) => { [$($crate::config::path::Step::from($step)),*] };
}
pub(super) use steps;

/// As TOML writes it, keys quoted where they must be.
pub(super) fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => _ = write!(text, "[{index}]"),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if !key.is_empty() && key.chars().all(bare) {
                    text.push_str(key);
                } else {
                    _ = write!(text, "{key:?}");
                }
            }
        }
    }
    text
}

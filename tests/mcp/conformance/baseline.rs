//! What is expected to fail, and why.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use harness_tests::binaries;

/// A file in the suite's own format for expected failures, one `- scenario:check` a line. The comment above a block of
/// entries is their reason.
pub(super) struct Baseline {
    pub(super) path: PathBuf,
    reasons: BTreeMap<String, String>,
}

impl Baseline {
    pub(super) fn read(name: &str) -> Self {
        let path = binaries::source().join("tests/mcp").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        Self::parse(path, &text).unwrap_or_else(|fault| panic!("{name}: {fault}"))
    }

    /// Fails with the line that cannot be read, has no reason or is there already.
    pub(super) fn parse(path: PathBuf, text: &str) -> Result<Self, String> {
        let mut lines = text
            .lines()
            .skip_while(|line| line.is_empty() || line.starts_with('#'));
        if lines.next() != Some("server:") {
            return Err("the one list is that of the server".to_owned());
        }
        let (mut reasons, mut reason) = (BTreeMap::new(), String::new());
        let mut in_entries = true;
        for line in lines {
            let line = line.trim();
            if line.is_empty() {
                reason.clear();
            } else if let Some(comment) = line.strip_prefix("# ") {
                if in_entries {
                    reason.clear();
                }
                reason.push_str(if reason.is_empty() { "" } else { " " });
                reason.push_str(comment);
            } else {
                let entry = line.strip_prefix("- ").filter(|entry| entry.contains(':'));
                let entry = entry.ok_or_else(|| format!("not `- scenario:check`: {line}"))?;
                if reason.is_empty() {
                    return Err(format!("no reason: {entry}"));
                }
                if reasons.insert(entry.to_owned(), reason.clone()).is_some() {
                    return Err(format!("twice: {entry}"));
                }
            }
            in_entries = line.starts_with('-');
        }
        Ok(Self { path, reasons })
    }

    /// Why this check, named `scenario:check`, may fail.
    pub(super) fn reason(&self, check: &str) -> Option<&str> {
        self.reasons.get(check).map(String::as_str)
    }

    /// Entries that did not fail.
    pub(super) fn stale(&self, failed: &BTreeSet<String>) -> Vec<&str> {
        let entries = self.reasons.keys();
        let passed = entries.filter(|entry| !failed.contains(*entry));
        passed.map(String::as_str).collect()
    }
}

//! Calls that carry a shell script, judged by what bash would run.

use std::path::{Path, PathBuf};

use harness_bashscan::{self as bashscan, Dialect, Pattern, Scan, Verdict};
use harness_model::{Call, Scope, Tool};

use crate::{Policy, read::Read};

/// The tools whose input is a script: group, name.
const SHELLS: [(&str, &str); 2] = [("bash", "run"), ("shell", "shell")];

/// The script of one call.
pub(crate) struct Script<'a> {
    text: &'a str,
    scan: Scan,
    cwd: PathBuf,
    workspace: &'a Path,
    /// The call sets variables of its own, and a variable can be code.
    has_environment: bool,
}

impl<'a> Script<'a> {
    /// The script of a call, if its tool runs one.
    pub(crate) fn of(tool: &Tool, call: &'a Call, policy: &'a Policy) -> Option<Self> {
        if !SHELLS.contains(&(tool.group.as_str(), tool.name.as_str())) {
            return None;
        }
        let word = |name: &str| call.input.get(name).and_then(serde_json::Value::as_str);
        let text = word("cmd")?;
        // An interpreter that is no bash may read the text differently.
        let shell = word("shell").map(Path::new).or(policy.shell.as_deref());
        let dialect = if shell.is_none_or(|shell| shell.file_name() == Some("bash".as_ref())) {
            Dialect::Bash
        } else {
            Dialect::Posix
        };
        let workspace = policy.workspace.as_path();
        let has_environment = call
            .input
            .get("env")
            .and_then(serde_json::Value::as_object)
            .is_some_and(|env| !env.is_empty());
        Some(Self {
            text,
            scan: bashscan::scan_as(text, dialect),
            cwd: word("cwd").map_or_else(|| workspace.to_owned(), |cwd| workspace.join(cwd)),
            workspace,
            has_environment,
        })
    }

    pub(crate) fn text(&self) -> &str {
        self.text
    }

    /// What was read, when the patterns allow all of it; else what is not allowed, in words.
    pub(crate) fn judge(&self, patterns: &[Pattern]) -> Result<Read, String> {
        if self.has_environment {
            return Err("the call sets variables, which can change what a command does".to_owned());
        }
        let policy = bashscan::Policy {
            workspace: self.workspace,
            cwd: &self.cwd,
        };
        match bashscan::judge_scan(self.text, &self.scan, patterns, policy) {
            Verdict::Allowed { matched } => Ok(Read::of(&self.scan, &matched)),
            Verdict::NotListed { command, .. } => {
                Err(format!("not in the allowlist: {}", excerpt(&command)))
            }
            Verdict::Asks { reason, .. } => Err(format!("no list covers it: {reason}")),
            Verdict::Opaque { reason, .. } => Err(format!("not fully understood: {reason}")),
        }
    }

    /// Whether running `text` is all that the call does: variables could make another command of it.
    pub(crate) fn is_all_of(&self, text: &str) -> bool {
        self.text == text && !self.has_environment
    }

    pub(crate) fn is_allowed_by(&self, patterns: &[Pattern]) -> bool {
        self.judge(patterns).is_ok()
    }

    pub(crate) fn has_any_of(&self, patterns: &[Pattern]) -> bool {
        self.scan
            .commands
            .iter()
            .any(|command| patterns.iter().any(|pattern| pattern.matches(command)))
    }

    /// What an "always" would cover: the commands as they are written, or this text alone.
    pub(crate) fn scope(&self) -> Scope {
        let text = || Scope::Text(self.text.to_owned());
        let commands = self
            .scan
            .commands
            .iter()
            .filter(|command| !command.words.is_empty());
        let words: Option<Vec<String>> = commands
            .map(|command| Some(command.literal_words()?.join(" ")))
            .collect();
        let Some(mut patterns) = words.filter(|patterns| !patterns.is_empty()) else {
            return text();
        };
        patterns.sort();
        patterns.dedup();
        // A word with a space or a glob in it would read as another pattern, so it has to prove itself.
        let parsed: Option<Vec<Pattern>> = patterns
            .iter()
            .map(|pattern| Pattern::parse(pattern).ok())
            .collect();
        let is_plain = |pattern: &String| !pattern.contains(['*', '?', '[', '\\', '\'', '"']);
        match parsed {
            Some(parsed) if patterns.iter().all(is_plain) && self.is_allowed_by(&parsed) => {
                Scope::Commands(patterns)
            }
            Some(_) | None => text(),
        }
    }
}

fn excerpt(text: &str) -> String {
    text.chars()
        .take(80)
        .collect::<String>()
        .escape_debug()
        .to_string()
}

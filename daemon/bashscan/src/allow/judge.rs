//! A script against an allowlist.

use std::path::{Component, Path};

use super::pattern::Pattern;
use crate::opaque::{Class, Opaque, Reason};
use crate::scan::{Command, Redirection, Scan, scan};
use crate::word::{Span, Word, WordKind};

/// Where the script will run.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    /// The directory below which files may be written; absolute.
    pub workspace: &'a Path,
    /// The working directory at the start; absolute.
    pub cwd: &'a Path,
}

/// Which entry of the list allowed a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// Where the command is.
    pub span: Span,
    /// Index of the first pattern that matches; none for what needs none: calls to functions of the
    /// script, and commands that only assign or redirect.
    pub pattern: Option<usize>,
}

/// What an allowlist says about a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything in it is understood and listed.
    Allowed {
        /// One for each command.
        matched: Vec<Matched>,
    },
    /// This command, or this target of a redirection, is not allowed by the list.
    NotListed {
        /// As written.
        command: String,
        /// Where it is.
        span: Span,
    },
    /// All of it is understood, and this part is of a kind that a person is asked for.
    Asks {
        /// Why.
        reason: Reason,
        /// Where it is.
        span: Span,
    },
    /// This part is not understood.
    Opaque {
        /// Why.
        reason: Reason,
        /// Where it is.
        span: Span,
    },
}

/// Judges a script for bash.
///
/// Nothing is allowed implicitly but syntax: `[[ … ]]`, `((…))`, assignments, keywords, and calls
/// to functions that the script itself defined before, whose bodies are judged. `:`, `true`, `test`,
/// `[`, `echo` and `cd` have to be listed like any program. Of a wrapper (`env`, `timeout`, `find
/// -exec`) both the wrapper and what it runs have to be. Files that the script reads as code
/// (`source`) are asked for.
#[must_use]
pub fn judge(text: &str, patterns: &[Pattern], policy: Policy<'_>) -> Verdict {
    judge_scan(text, &scan(text), patterns, policy)
}

/// Judges what was found in `text`.
#[must_use]
pub fn judge_scan(text: &str, scan: &Scan, patterns: &[Pattern], policy: Policy<'_>) -> Verdict {
    if let Some(verdict) = open_question(scan) {
        return verdict;
    }
    let moves = scan.commands.iter().any(changes_directory);
    let redirections = scan.redirections.iter().chain(
        scan.commands
            .iter()
            .flat_map(|command| &command.redirections),
    );
    for redirection in redirections {
        if redirection.writes && !is_writable(redirection, policy, moves) {
            return not_listed(text, redirection.span);
        }
    }
    let mut matched = Vec::with_capacity(scan.commands.len());
    for command in &scan.commands {
        let pattern = patterns.iter().position(|pattern| pattern.matches(command));
        if pattern.is_none() && !command.words.is_empty() && !command.calls_function {
            return not_listed(text, command.span);
        }
        matched.push(Matched {
            span: command.span,
            pattern,
        });
    }
    Verdict::Allowed { matched }
}

/// What no list can allow; the worst of it.
fn open_question(scan: &Scan) -> Option<Verdict> {
    let worst = scan.opaque.iter().min_by_key(|each| each.reason.class());
    if let Some(Opaque { reason, span }) = worst.cloned() {
        return Some(match reason.class() {
            Class::NotUnderstood => Verdict::Opaque { reason, span },
            Class::Evaluates | Class::Asks => Verdict::Asks { reason, span },
        });
    }
    scan.sources.first().map(|source| Verdict::Asks {
        reason: Reason::Code("source".to_owned()),
        span: source.span,
    })
}

fn not_listed(text: &str, span: Span) -> Verdict {
    let command = text
        .get(span.start..span.end)
        .unwrap_or_default()
        .to_owned();
    Verdict::NotListed { command, span }
}

/// Behind such a command a relative name is not known any more.
fn changes_directory(command: &Command) -> bool {
    let moves = |word: &Word| matches!(word.literal(), Some("cd" | "pushd" | "popd"));
    let program = command.name().and_then(|name| name.rsplit('/').next());
    match program {
        Some("find") => command
            .words
            .iter()
            .any(|w| matches!(w.literal(), Some("-execdir" | "-okdir"))),
        Some("cd" | "pushd" | "popd") => true,
        Some("builtin" | "command" | "eval") => command.words.iter().any(moves),
        Some(_) | None => command.context.wrapper().is_some() && command.words.iter().any(moves),
    }
}

/// Whether the file may be written: a literal name below the workspace, with no `..` in it and not
/// below a `.git`, whose hooks and settings are code; or the null device or an own stream.
fn is_writable(redirection: &Redirection, policy: Policy<'_>, moves: bool) -> bool {
    let target = match &redirection.target.kind {
        WordKind::Literal(text) => text.as_str(),
        WordKind::Glob { .. } | WordKind::Dynamic { .. } => return false,
    };
    if matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr") {
        return true;
    }
    let path = Path::new(target);
    if target.is_empty() || (path.is_relative() && moves) {
        return false;
    }
    let plain = |path: &Path| {
        path.components().all(|component| match component {
            Component::RootDir | Component::CurDir => true,
            Component::Normal(name) => name != ".git",
            Component::ParentDir | Component::Prefix(_) => false,
        })
    };
    let whole = policy.cwd.join(path);
    plain(path)
        && plain(policy.cwd)
        && whole.starts_with(policy.workspace)
        && whole != policy.workspace
}

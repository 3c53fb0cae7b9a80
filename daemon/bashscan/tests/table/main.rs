//! Commands, harmless and hostile, with the verdict each deserves under one allowlist.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hidden;
mod opaque;
mod plain;
mod values;

use std::path::Path;

use harness_bashscan::{Pattern, Policy, Verdict, judge};

const ALLOWLIST: &[&str] = &[
    "git status",
    "git log *",
    "git diff *",
    "cargo *",
    "echo *",
    "printf *",
    "ls *",
    "cat *",
    "cd *",
    "true",
    ":",
    "test *",
    "[ *",
    "env *",
    "xargs *",
    "find *",
    "timeout *",
    "command *",
    "exec *",
    "builtin *",
    "sudo *",
    "nice *",
    "time *",
    "nohup *",
    "trap *",
    "eval *",
    "sh *",
    "bash *",
    "read *",
    "let *",
    "declare *",
    "export *",
    "local *",
    "unset *",
    "set *",
    "shopt *",
    "alias *",
    "source *",
    ". *",
    "grep *",
    "seq *",
    "npm run test:*",
    "python3 -m ?est",
    "sed *",
    "wait *",
    "watch *",
    "flock *",
    "script *",
    "sleep *",
    "hash *",
    "enable *",
    "mapfile *",
    "ssh *",
    "wc *",
    "exit *",
    "return *",
    "break",
    "getopts *",
    "coproc *",
    "stdbuf *",
    "chroot *",
    "busybox *",
    "parallel *",
    "readonly *",
    "typeset *",
    "kill *",
    "id *",
    "expr *",
    "date *",
];

/// Verdicts: allowed, not listed, asks for a reason that has a name, opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    A,
    N,
    Q,
    O,
}
use Is::{A, N, O, Q};
use hidden::{HIDDEN, WRAPPERS};
use opaque::{OPAQUE, WRITES};
use plain::{LISTS, PLAIN};
use values::VALUES;

fn kind(verdict: &Verdict) -> Is {
    match verdict {
        Verdict::Allowed { .. } => A,
        Verdict::NotListed { .. } => N,
        Verdict::Asks { .. } => Q,
        Verdict::Opaque { .. } => O,
    }
}

fn wrong(rows: &[(Is, &str)]) -> Vec<String> {
    let patterns: Vec<Pattern> = ALLOWLIST
        .iter()
        .map(|text| Pattern::parse(text).unwrap())
        .collect();
    let policy = Policy {
        workspace: Path::new("/ws"),
        cwd: Path::new("/ws"),
    };
    rows.iter()
        .filter_map(|(expected, script)| {
            let verdict = judge(script, &patterns, policy);
            (kind(&verdict) != *expected)
                .then(|| format!("{script:?} should be {expected:?} but is {verdict:?}"))
        })
        .collect()
}

#[test]
fn harmless_commands_that_are_listed_are_allowed() {
    assert_eq!(wrong(PLAIN), Vec::<String>::new());
}

#[test]
fn a_command_that_is_not_listed_is_found_in_every_kind_of_list() {
    assert_eq!(wrong(LISTS), Vec::<String>::new());
}

#[test]
fn a_command_that_is_not_listed_is_found_within_every_kind_of_word() {
    assert_eq!(wrong(HIDDEN), Vec::<String>::new());
}

#[test]
fn a_hidden_command_is_among_the_commands_even_when_the_script_is_opaque() {
    let missed: Vec<&str> = HIDDEN
        .iter()
        .map(|(_, script)| *script)
        .filter(|script| {
            !harness_bashscan::scan(script)
                .commands
                .iter()
                .any(|command| command.name() == Some("rm"))
        })
        .collect();
    assert_eq!(missed, Vec::<&str>::new());
}

#[test]
fn a_command_that_is_not_listed_is_found_behind_every_wrapper() {
    assert_eq!(wrong(WRAPPERS), Vec::<String>::new());
}

#[test]
fn what_cannot_be_known_from_the_text_is_opaque() {
    assert_eq!(wrong(OPAQUE), Vec::<String>::new());
}

#[test]
fn values_are_followed_through_the_script() {
    assert_eq!(wrong(VALUES), Vec::<String>::new());
}

#[test]
fn files_are_written_only_below_the_workspace() {
    assert_eq!(wrong(WRITES), Vec::<String>::new());
}

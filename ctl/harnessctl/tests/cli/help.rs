//! The help texts, which are the reference.

use crate::program::{Ended, program};

fn help(words: &[&str]) -> String {
    let ended = Ended::of(program(&[words, &["--help"]].concat()).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.stdout
}

#[test]
fn the_help_of_the_program_is_the_committed_one() {
    insta::assert_snapshot!("help", help(&[]));
}

#[test]
fn the_help_of_every_verb_is_the_committed_one() {
    for verb in [
        "status",
        "run",
        "shell",
        "list",
        "output",
        "wait",
        "stop",
        "restart",
        "signal",
        "wakes",
        "events",
        "units",
        "tools",
        "call",
        "calls",
        "reload",
        "mcp",
        "mcp-config",
    ] {
        insta::assert_snapshot!(format!("help-{verb}"), help(&[verb]));
    }
}

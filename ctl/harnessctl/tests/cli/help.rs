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
    let text = help(&[]);
    let (_, verbs) = text.split_once("Commands:\n").unwrap();
    let (verbs, _) = verbs.split_once("\n\n").unwrap();
    // A line that goes on is indented further.
    let verbs = verbs
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '));
    for line in verbs {
        let verb = line.split(' ').next().unwrap();
        if verb != "help" {
            insta::assert_snapshot!(format!("help-{verb}"), help(&[verb]));
        }
    }
}

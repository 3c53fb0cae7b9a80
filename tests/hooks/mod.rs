//! Hooks: programs of the person's around each call.

mod after;
mod before;
mod failure;
mod process;

use std::{fmt::Write as _, os::unix::fs::PermissionsExt as _};

use harness_tests::harness::Harness;
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    [
        before::trials(),
        after::trials(),
        failure::trials(),
        process::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A hook: its event, what its bash script does, and further keys.
type Hook<'a> = (&'a str, &'a str, &'a str);

/// Says what a script was asked.
const KEEP: &str = "cat > \"$0.asked\"";

/// A harness whose hooks are the scripts `hook1`, `hook2` … outside its workspace.
fn start(config: &str, hooks: &[Hook<'_>]) -> Harness {
    let mut harness = prepared(config, hooks);
    harness.start_daemon();
    harness
}

fn prepared(config: &str, hooks: &[Hook<'_>]) -> Harness {
    let harness = Harness::prepared("");
    configure(&harness, config, hooks);
    harness
}

/// Writes the scripts and the configuration.
fn configure(harness: &Harness, config: &str, hooks: &[Hook<'_>]) {
    let mut text = format!("{config}\n");
    for (number, (event, script, keys)) in (1..).zip(hooks) {
        let path = harness.path(&format!("hook{number}"));
        std::fs::write(&path, format!("#!/usr/bin/env bash\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let command = path.display();
        writeln!(
            text,
            "[[hook]]\nevent = \"{event}\"\ncommand = [\"{command}\"]\n{keys}"
        )
        .unwrap();
    }
    harness.write_config(&text);
}

/// What a hook was asked last.
#[track_caller]
fn asked(harness: &Harness, number: u32) -> Value {
    let text = std::fs::read_to_string(harness.path(&format!("hook{number}.asked"))).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Whether a hook was asked.
fn was_asked(harness: &Harness, number: u32) -> bool {
    harness.path(&format!("hook{number}.asked")).exists()
}

/// The newest call in the record.
fn newest(harness: &Harness) -> Value {
    harness.get("/v1/calls?limit=1")["items"][0].clone()
}

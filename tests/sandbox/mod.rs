//! `[sandbox]`: what a task may not do, tried from inside one, as root and as a user without privileges.

mod allowlisted;
mod asking;
mod hidden;
mod network;
pub(crate) mod outcome;
mod programs;
mod writing;

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use harness_tests::harness::{Harness, unprivileged_missing};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    [
        allowlisted::trials(),
        asking::trials(),
        hidden::trials(),
        network::trials(),
        outcome::trials(),
        programs::trials(),
        writing::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A directory beside the harness's own, of which everything is anybody's: only the sandbox refuses.
struct Ground {
    directory: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self {
            directory: tempfile::Builder::new().prefix("hs").tempdir().unwrap(),
        };
        for name in ["", "tmp", "outside", "secret"] {
            let path = ground.path(name);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        }
        for (name, text) in [("outside/file", "outside\n"), ("secret/key", "s3cret\n")] {
            fs::write(ground.path(name), text).unwrap();
            fs::set_permissions(ground.path(name), fs::Permissions::from_mode(0o666)).unwrap();
        }
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names in a directory.
    fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The configuration, in which `GROUND` stands for the directory, as `$GROUND` and `$DIRECTORY` do in
    /// tasks and turns; `TMPDIR` is in it.
    fn config(&self, sandbox: &str) -> String {
        let directory = self.directory.path().display().to_string();
        let tmp = self.path("tmp");
        format!(
            "tool_groups = [\"wakes\", \"shell\"]\n[environment]\nset = {{ TMPDIR = \"{}\", GROUND = \"{directory}\", DIRECTORY = \"{directory}\" }}\n[sandbox]\n{}",
            tmp.display(),
            sandbox.replace("GROUND", &directory)
        )
    }
}

/// Runs the test as root (or whoever runs it), and as a user without privileges where that can be had.
fn each(sandbox: &str, test: impl Fn(&Harness, &Ground)) {
    let ground = Ground::new();
    test(&Harness::with_config(&ground.config(sandbox)), &ground);
    if unprivileged_missing().is_none() {
        let ground = Ground::new();
        test(&Harness::unprivileged(&ground.config(sandbox)), &ground);
    }
}

/// A finished task's status.
#[track_caller]
fn run(harness: &Harness, cmd: &str) -> Value {
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 30}));
    assert_ne!(status["status"], "running", "{status}");
    status
}

/// What a task that has to succeed wrote.
#[track_caller]
fn ok(harness: &Harness, cmd: &str) -> String {
    let status = run(harness, cmd);
    assert_eq!(status["exit_code"], 0, "{cmd}: {status}");
    status["stdout"]["tail"].as_str().unwrap().to_owned()
}

/// Runs commands, a line each, and gives those that succeeded.
#[track_caller]
fn succeeding(harness: &Harness, commands: &[&str]) -> Vec<String> {
    let script = harness.path("script");
    let mut lines = String::new();
    for (number, command) in commands.iter().enumerate() {
        _ = writeln!(lines, "({command}) && echo DONE-{number}");
    }
    fs::write(&script, lines).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    open_to_all(harness.path("").as_path());
    let status = run(harness, &format!(". {}; true", script.display()));
    let text = status["stdout"]["tail"].as_str().unwrap();
    let done = |number: usize| text.lines().any(|line| line == format!("DONE-{number}"));
    commands
        .iter()
        .enumerate()
        .filter(|(number, _)| done(*number))
        .map(|(_, command)| (*command).to_owned())
        .collect()
}

/// The directory of a harness is its user's alone otherwise.
fn open_to_all(directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
}

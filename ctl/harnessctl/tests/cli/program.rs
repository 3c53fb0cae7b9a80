//! Calls of the program.

use std::process::{Command, Output, Stdio};

use crate::support::FakeHarness;

/// The program with an environment of its own.
#[expect(
    clippy::disallowed_methods,
    reason = "the program under test is a process"
)]
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harnessctl"));
    command
        .args(arguments)
        .env_clear()
        .env("XDG_RUNTIME_DIR", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Its end, talking to `harness`.
pub(crate) fn call(harness: &FakeHarness, arguments: &[&str]) -> Ended {
    Ended::of(
        program(arguments)
            .env("HARNESS_RUNTIME_DIR", harness.directory.path())
            .output()
            .unwrap(),
    )
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

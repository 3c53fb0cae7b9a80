//! The command `tools` inside tasks and `shell` calls.

mod input;
mod stop;
mod token;

use harness_tests::harness::Harness;
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    [input::trials(), stop::trials(), token::trials()]
        .into_iter()
        .flatten()
        .collect()
}

/// Runs a script to its end and gives its status.
#[track_caller]
fn script(harness: &Harness, text: &str) -> Value {
    let input = json!({"cmd": text, "wait_seconds": 30});
    let status = harness.mcp(Some("bash")).ok("run", &input).clone();
    assert!(
        !["pending", "running"].contains(&status["status"].as_str().unwrap()),
        "{status}"
    );
    status
}

fn stdout(status: &Value) -> &str {
    status["stdout"]["tail"].as_str().unwrap()
}

/// The error that a script's only failing command printed.
#[track_caller]
fn error(status: &Value) -> Value {
    let stderr = status["stderr"]["tail"].as_str().unwrap();
    let line: Value =
        serde_json::from_str(stderr.trim_end()).unwrap_or_else(|error| panic!("{error}: {status}"));
    line["error"].clone()
}

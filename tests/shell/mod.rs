//! Synchronous commands in the workspace: the tool `shell`.

mod limit;
mod live;
mod place;
mod result;

use harness_tests::{harness::Harness, mcp::Session};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    [
        result::trials(),
        place::trials(),
        limit::trials(),
        live::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The tool is let through without a question.
const ALLOWED: &str = "[tool.shell]\nmode = \"allow\"\n";

fn start() -> Harness {
    Harness::with_config(ALLOWED)
}

/// Runs a command that has to give a result.
#[track_caller]
fn run(session: &mut Session, cmd: &str) -> Value {
    session.ok("shell", &json!({"cmd": cmd}))
}

/// The group's own code of a call that has to be refused.
#[track_caller]
fn code(session: &mut Session, input: &Value) -> String {
    let result = session.call("shell", input);
    assert_eq!(result["isError"], true, "{input}: {result}");
    let error = &result["structuredContent"]["error"];
    let code = error["details"]["code"].as_str();
    let code = code.unwrap_or_else(|| panic!("{input}: no code in {result}"));
    assert!(
        error["message"].as_str().unwrap().starts_with(code),
        "{result}"
    );
    code.to_owned()
}

/// The input of the newest call, as it was recorded.
fn recorded(harness: &Harness) -> Value {
    harness.get("/v1/calls?limit=1")["items"][0]["input"].clone()
}

//! Who may call.

use harness_tests::{
    binaries, command,
    harness::{Harness, PATIENCE},
    trials,
};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{error, script, stdout};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_token_used_from_outside_of_its_run_is_denied_and_recorded,
        the_token_of_another_run_is_denied,
        a_process_that_left_its_session_still_belongs_to_its_run,
        a_run_goes_on_calling_after_a_restart_of_the_daemon,
        outside_of_a_run_the_command_says_so,
    ]
}

fn a_token_used_from_outside_of_its_run_is_denied_and_recorded() {
    let harness = Harness::start();
    let status = script(
        &harness,
        "echo $HARNESS_RUN_TOKEN; echo $HARNESS_TOOLS_SOCKET",
    );
    let mut lines = stdout(&status).lines();
    let (token, socket) = (lines.next().unwrap(), lines.next().unwrap());
    for token in [token, "", "x"] {
        let mut tools = command::command(binaries::program("tools"));
        tools
            .args(["list", "limit=1"])
            .env("HARNESS_TOOLS_SOCKET", socket)
            .env("HARNESS_RUN_TOKEN", format!("{token} "));
        let output = command::run(tools, b"", PATIENCE);
        let line: Value = serde_json::from_str(&output.stderr).unwrap();
        assert_eq!(line["error"]["code"], "denied", "{line}");
    }
    let calls = harness.get("/v1/calls?state=refused");
    let calls = calls["items"].as_array().unwrap();
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert!(
        calls
            .iter()
            .all(|call| call["code"] == "denied" && call["front"] == "tools"),
        "{calls:?}"
    );
}

fn the_token_of_another_run_is_denied() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    session.ok("run", &json!({"cmd": "echo $HARNESS_RUN_TOKEN > token.new; mv token.new token; exec sleep 1000", "wait_seconds": 0}));
    let status = script(
        &harness,
        "until [ -s token ]; do :; done; HARNESS_RUN_TOKEN=$(cat token) tools list limit=1",
    );
    assert_eq!(error(&status)["code"], "denied", "{status}");
}

fn a_process_that_left_its_session_still_belongs_to_its_run() {
    let harness = Harness::start();
    let status = script(
        &harness,
        "setsid -w sh -c 'tools list limit=1 | grep -c tasks'",
    );
    assert_eq!(stdout(&status), "1\n", "{status}");
    let status = script(
        &harness,
        "setsid -f sh -c 'tools list limit=1 | grep -c tasks > found.new; mv found.new found'; until [ -e found ]; do :; done; cat found",
    );
    assert_eq!(stdout(&status), "1\n", "{status}");
}

fn a_run_goes_on_calling_after_a_restart_of_the_daemon() {
    let mut harness = Harness::with_config("[limits]\nscript_calls = 2\n");
    let mut session = harness.mcp(Some("bash"));
    let started = session.ok("run", &json!({
        "cmd": "tools list limit=1 >/dev/null && touch one; until [ -e go ]; do sleep 0.01; done; tools list limit=2 | grep -c tasks; tools list limit=3",
        "wait_seconds": 0,
    }));
    let id = started["id"].as_str().unwrap().to_owned();
    script(&harness, "until [ -e one ]; do :; done");
    harness.kill_daemon();
    harness.start_daemon();
    std::fs::write(harness.workspace().join("go"), "").unwrap();
    let status = harness
        .mcp(Some("bash"))
        .ok("status", &json!({"id": id, "wait_seconds": 30}))
        .clone();
    assert_eq!(stdout(&status), "1\n", "{status}");
    assert_eq!(
        status["tools"]["stopped"]["reason"], "call_limit",
        "the first call counts: {status}"
    );
}

fn outside_of_a_run_the_command_says_so() {
    let mut tools = command::command(binaries::program("tools"));
    tools.args(["list"]).env_remove("HARNESS_TOOLS_SOCKET");
    let output = command::run(tools, b"", PATIENCE);
    assert_eq!(output.code, 1);
    let line: Value = serde_json::from_str(&output.stderr).unwrap();
    assert_eq!(line["error"]["code"], "unavailable");
    let mut tools = command::command(binaries::program("tools"));
    tools
        .args(["list"])
        .env("HARNESS_TOOLS_SOCKET", "/nowhere/tools.sock")
        .env("HARNESS_RUN_TOKEN", "x");
    let line: Value = serde_json::from_str(&command::run(tools, b"", PATIENCE).stderr).unwrap();
    assert_eq!(line["error"]["retryable"], true);
}

//! Modes, allowlists and explanations.

use harness_tests::{command, harness::Harness, harness::PATIENCE, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_tool_that_is_off_is_refused_on_every_front,
        a_tool_in_ask_does_not_run_without_an_answer_on_any_front,
        an_allowlist_lets_its_commands_through_and_asks_about_the_rest,
        an_example_that_does_not_hold_keeps_a_file_out,
        an_explanation_names_the_rule_and_what_would_change_it_and_runs_nothing,
    ]
}

const IMPATIENT: &str = "[approval]\nhold_sec = 0\n";

fn a_tool_that_is_off_is_refused_on_every_front() {
    let harness = Harness::with_config("[tool.run]\nmode = \"off\"\n");
    let result = harness
        .mcp(Some("bash"))
        .call("run", &json!({"cmd": "touch ran"}));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "denied",
        "{result}"
    );
    assert!(text(&result).contains("[tool.run]"), "{result}");
    assert_eq!(
        harness
            .http("POST", "/v1/tasks", Some(r#"{"cmd":"touch ran"}"#))
            .status,
        403
    );
    assert_ne!(
        harness.ctl(&["run", "--wait=30", "--", "touch ran"]).code,
        0
    );
    assert!(!harness.workspace().join("ran").exists());
}

fn a_tool_in_ask_does_not_run_without_an_answer_on_any_front() {
    let harness = Harness::with_config(&format!("{IMPATIENT}[tool.\"bash__*\"]\nmode = \"ask\"\n"));
    let result = harness
        .mcp(None)
        .call("bash__run", &json!({"cmd": "touch ran"}));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "needs_approval",
        "{result}"
    );
    let result = harness
        .mcp(Some("bash"))
        .call("run", &json!({"cmd": "touch ran", "wait_seconds": 0}));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "needs_approval",
        "{result}"
    );
    let reply = harness.http(
        "POST",
        "/v1/tasks",
        Some(r#"{"cmd":"touch ran","wait_seconds":1}"#),
    );
    assert_eq!(reply.json()["error"]["code"], "needs_approval", "{reply:?}");
    let run = harness.ctl(&["run", "--", "touch ran"]);
    assert!(run.code != 0 && run.stderr.contains("approval"), "{run:?}");
    assert!(!harness.workspace().join("ran").exists());
    assert_eq!(harness.get("/v1/tasks")["items"], json!([]));
}

fn an_allowlist_lets_its_commands_through_and_asks_about_the_rest() {
    let rules = "[tool.run]\nmode = \"allowlist\"\nallowlist = [\"echo *\", \"touch *.txt\"]\n";
    let harness = Harness::with_config(&format!("{IMPATIENT}{rules}"));
    let mut session = harness.mcp(Some("bash"));
    assert_eq!(
        session.ok("run", &json!({"cmd": "echo one && touch a.txt"}))["exit_code"],
        0
    );
    for cmd in [
        "echo one; touch ran",
        "echo $(touch ran)",
        "echo `touch ran`",
        "touch a.txt & touch ran",
        "eval touch ran",
        "echo x > /tmp/../etc/ran",
    ] {
        let result = session.call("run", &json!({"cmd": cmd}));
        assert_eq!(
            result["structuredContent"]["error"]["code"], "needs_approval",
            "{cmd}: {result}"
        );
    }
    assert!(!harness.workspace().join("ran").exists());
}

fn an_example_that_does_not_hold_keeps_a_file_out() {
    let rule = "[tool.run]\nmode = \"allowlist\"\nallowlist = [\"echo *\"]\nmatch = [\"echo a\"]\n";
    let harness = Harness::with_config(&format!("{rule}not_match = [\"rm x\"]\n{IMPATIENT}"));
    harness.write_config(&format!(
        "{}not_match = [\"echo b\"]\n",
        rule.replace("echo *", "*")
    ));
    let reload = harness.ctl(&["reload"]);
    let mut check = command::command(harness_tests::binaries::program("harnessd"));
    check
        .arg("--check")
        .arg("--config")
        .arg(harness.path("test.toml"));
    let check = command::run(check, b"", PATIENCE);
    assert!(check.code == 1 && reload.code != 0, "{check:?} {reload:?}");
    let complaint =
        "test.toml:6:14: tool.run.not_match[0]: \"echo b\" is allowed without a question";
    for output in [&check, &reload] {
        assert!(output.stderr.contains(complaint), "{output:?}");
    }
    let asked = harness
        .mcp(Some("bash"))
        .call("run", &json!({"cmd": "rm x"}));
    let code = &asked["structuredContent"]["error"]["code"];
    assert_eq!(code, "needs_approval", "the old rule is in force: {asked}");
}

fn an_explanation_names_the_rule_and_what_would_change_it_and_runs_nothing() {
    let harness =
        Harness::with_config("[tool.run]\nmode = \"allowlist\"\nallowlist = [\"git status\"]\n");
    let explained = harness
        .ctl(&["--json", "explain", "run", "git status; rm -rf x"])
        .ok()
        .json();
    assert_eq!(explained["decision"], "ask", "{explained}");
    assert_eq!(explained["rules"][0]["layer"], "[tool.run]");
    assert!(
        explained["rules"][0]["rule"]
            .as_str()
            .unwrap()
            .contains("rm -rf x"),
        "{explained}"
    );
    let explained = harness
        .ctl(&["explain", "bash__run", r#"{"cmd":"git status"}"#])
        .ok();
    assert!(explained.stdout.starts_with("allow"), "{explained:?}");
    assert_eq!(harness.get("/v1/calls")["items"], json!([]));
    let mut check = command::command(harness_tests::binaries::program("harnessd"));
    harness.write_config("[tool.run]\nmode = \"sometimes\"\n");
    check
        .arg("--check")
        .arg("--config")
        .arg(harness.path("test.toml"));
    assert_eq!(command::run(check, b"", PATIENCE).code, 1);
}

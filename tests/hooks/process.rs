//! Hooks as processes: what becomes of them, and what they are not.

use harness_tests::{
    event,
    harness::{Harness, PATIENCE},
    trials,
};
use libtest_mimic::Trial;
use serde_json::json;

use super::{KEEP, newest, prepared, start};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        what_a_hook_leaves_behind_is_ended_and_holds_nothing_up,
        a_hook_is_no_unit_fires_no_wake_and_does_not_count_as_a_task,
        a_hook_gets_the_environment_of_children_and_no_secrets,
        a_call_that_is_taken_back_ends_its_hook,
        a_daemon_that_dies_while_a_hook_runs_leaves_an_unknown_outcome_and_no_hook,
        a_daemon_that_dies_after_the_call_ran_leaves_an_unknown_outcome,
        a_daemon_that_never_comes_back_leaves_no_hook_either,
        a_hook_can_answer_no_approval,
    ]
}

/// Says its pid, and then never anything.
const HANG: &str = "echo $$ > \"$0.pid\"; exec sleep 1000";

/// The pid that a script wrote.
fn pid(harness: &Harness, name: &str) -> i32 {
    let text = event::file(&harness.path(name), PATIENCE, |text| text.ends_with('\n'));
    text.trim().parse().unwrap()
}

fn what_a_hook_leaves_behind_is_ended_and_holds_nothing_up() {
    let leave = "(echo $BASHPID > \"$0.pid\"; exec setsid sleep 1000) & until [ -s \"$0.pid\" ]; do :; done";
    let harness = start("", &[("pre_call", leave, "timeout_sec = 30")]);
    harness.mcp(Some("bash")).ok("list", &json!({}));
    event::ended(pid(&harness, "hook1.pid"), PATIENCE);
}

fn a_hook_is_no_unit_fires_no_wake_and_does_not_count_as_a_task() {
    let harness = start(
        "[bash]\nmax_tasks = 1\n",
        &[
            ("pre_call", KEEP, ""),
            ("post_call", "exit 1", "on_error = \"allow\""),
        ],
    );
    let mut session = harness.mcp(Some("bash"));
    for number in 0..5 {
        session.ok("run", &json!({"cmd": format!("exit {number}")}));
    }
    let units = harness.get("/v1/units");
    let units = units["items"].as_array().unwrap();
    assert_eq!(units.len(), 5, "{units:?}");
    assert!(units.iter().all(|unit| unit["kind"] == "task"), "{units:?}");
    assert_eq!(harness.get("/v1/units?kind=hook")["items"], json!([]));
    let status = harness.get("/v1/status");
    assert_eq!(status["tasks"]["running"], 0, "{status}");
    assert_eq!(harness.get("/v1/wakes"), json!([]));
    let keeper = harness.keeper_pid();
    let children = format!("/proc/{keeper}/task/{keeper}/children");
    assert_eq!(std::fs::read_to_string(children).unwrap(), "");
}

fn a_hook_gets_the_environment_of_children_and_no_secrets() {
    let script = "env > \"$0.env\"; pwd > \"$0.pwd\"";
    let config = "[environment]\nset = { COLOUR = \"blue\" }\n";
    let mut harness = prepared(config, &[("pre_call", script, "")]);
    let mut daemon = harness.daemon_command();
    daemon
        .env("DEPLOY_TOKEN", "hunter2-hunter2")
        .env("PLAIN", "yes");
    harness.start_with(daemon);
    harness.mcp(Some("bash")).ok("list", &json!({}));
    let env = std::fs::read_to_string(harness.path("hook1.env")).unwrap();
    assert!(
        env.contains("COLOUR=blue\n") && env.contains("PLAIN=yes\n"),
        "{env}"
    );
    for absent in ["DEPLOY_TOKEN", "NOTIFY_SOCKET", "HARNESS_RUN_TOKEN"] {
        assert!(!env.contains(absent), "{env}");
    }
    let pwd = std::fs::read_to_string(harness.path("hook1.pwd")).unwrap();
    assert_eq!(pwd.trim(), harness.workspace().display().to_string());
}

fn a_call_that_is_taken_back_ends_its_hook() {
    for event in ["pre_call", "post_call"] {
        let harness = start("", &[(event, HANG, "timeout_sec = 600")]);
        let mut session = harness.mcp(Some("bash"));
        let mut events = harness.events();
        let call = session.begin(
            "tools/call",
            &json!({"name": "run", "arguments": {"cmd": "touch ran"}}),
        );
        let hook = pid(&harness, "hook1.pid");
        assert_eq!(newest(&harness)["state"], "open");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
        event::ended(hook, PATIENCE);
        assert_eq!(events.next("tool_result")["state"], "cancelled");
        let ran = harness.workspace().join("ran").exists();
        assert_eq!(ran, event == "post_call");
    }
}

fn a_daemon_that_dies_while_a_hook_runs_leaves_an_unknown_outcome_and_no_hook() {
    let mut harness = start("", &[("pre_call", HANG, "timeout_sec = 600")]);
    let mut session = harness.mcp(Some("bash"));
    session.begin(
        "tools/call",
        &json!({"name": "run", "arguments": {"cmd": "touch ran"}}),
    );
    let hook = pid(&harness, "hook1.pid");
    harness.kill_daemon();
    assert!(event::lives(hook));
    harness.start_daemon();
    event::ended(hook, PATIENCE);
    let call = newest(&harness);
    assert_eq!(call["state"], "outcome_unknown", "{call}");
    assert!(!harness.workspace().join("ran").exists());
}

fn a_daemon_that_dies_after_the_call_ran_leaves_an_unknown_outcome() {
    let mut harness = start("", &[("post_call", HANG, "timeout_sec = 600")]);
    let mut session = harness.mcp(Some("bash"));
    session.begin(
        "tools/call",
        &json!({"name": "run", "arguments": {"cmd": "echo >> ran", "wait_seconds": 30}}),
    );
    let hook = pid(&harness, "hook1.pid");
    harness.kill_daemon();
    harness.start_daemon();
    event::ended(hook, PATIENCE);
    assert_eq!(newest(&harness)["state"], "outcome_unknown");
    // It is not made again.
    let ran = std::fs::read_to_string(harness.workspace().join("ran")).unwrap();
    assert_eq!(ran, "\n");
}

fn a_daemon_that_never_comes_back_leaves_no_hook_either() {
    let mut harness = start("", &[("pre_call", HANG, "timeout_sec = 1")]);
    let mut session = harness.mcp(Some("bash"));
    session.begin("tools/call", &json!({"name": "list", "arguments": {}}));
    let hook = pid(&harness, "hook1.pid");
    harness.kill_daemon();
    event::ended(hook, PATIENCE);
}

fn a_hook_can_answer_no_approval() {
    let ctl = harness_tests::binaries::program("harnessctl");
    let harness = prepared("", &[]);
    let script = format!(
        "{} --runtime-dir {} approvals > \"$0.out\" 2>&1; true",
        ctl.display(),
        harness.runtime().display()
    );
    super::configure(&harness, "", &[("pre_call", &script, "timeout_sec = 30")]);
    let mut harness = harness;
    harness.start_daemon();
    harness.mcp(Some("bash")).ok("list", &json!({}));
    let said = std::fs::read_to_string(harness.path("hook1.out")).unwrap();
    assert!(said.contains("belongs to the agent"), "{said}");
}

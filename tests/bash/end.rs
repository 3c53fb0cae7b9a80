//! How a task ends: by itself, by a limit, by somebody.

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_killed_task_is_never_reported_as_exit_code_zero,
        a_timeout_ends_the_whole_tree_and_says_timed_out,
        a_stop_ends_the_task_and_says_stopped,
        a_stop_does_not_restart_a_task_that_always_restarts,
        a_term_immune_task_gets_the_final_signal,
        a_signal_reaches_the_main_process,
        a_signal_to_a_task_at_rest_says_so,
        a_program_that_does_not_exist_is_exit_code_127_of_the_shell,
    ]
}

fn a_killed_task_is_never_reported_as_exit_code_zero() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "kill -9 $$"}));
    assert_eq!(status["exit_code"], json!(null), "{status}");
    assert_eq!(status["signal"], "SIGKILL");
    assert_eq!(status["result"], "signal");
}

fn a_timeout_ends_the_whole_tree_and_says_timed_out() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let cmd =
        "sleep 1000 & echo $! > child; (trap '' TERM; exec sleep 1000) & echo $! > immune; wait";
    let input = json!({"cmd": cmd, "timeout_secs": 0.3, "wait_seconds": 30, "unit": {"timeout_stop_sec": 0.2}});
    let status = session.ok("run", &input);
    assert_eq!(status["status"], "timed_out", "{status}");
    assert_eq!(status["result"], "timeout");
    for file in ["child", "immune"] {
        let pid = std::fs::read_to_string(harness.workspace().join(file)).unwrap();
        assert!(
            !harness_tests::event::lives(pid.trim().parse().unwrap()),
            "{file} lives"
        );
    }
}

fn a_stop_ends_the_task_and_says_stopped() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let id = session.ok("run", &json!({"cmd": "sleep 1000", "wait_seconds": 0}))["id"].clone();
    let status = session.ok("stop", &json!({"id": id}));
    assert_eq!(status["status"], "stopped", "{status}");
    assert_eq!(status["signal"], "SIGTERM");
    assert_eq!(status["exit_code"], json!(null));
    assert_eq!(status["active_state"], "inactive");
}

fn a_stop_does_not_restart_a_task_that_always_restarts() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let input = json!({"cmd": "sleep 1000", "wait_seconds": 0, "unit": {"restart": "always", "restart_sec": 0}});
    let id = session.ok("run", &input)["id"].clone();
    let status = session.ok("stop", &json!({"id": id}));
    assert_eq!(status["status"], "stopped", "{status}");
    assert_eq!(session.ok("status", &json!({"id": id}))["restarts"], 0);
}

fn a_term_immune_task_gets_the_final_signal() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let cmd = "trap '' TERM; echo ready > ready; while :; do sleep 1000; done";
    let input = json!({"cmd": cmd, "wait_seconds": 0, "unit": {"timeout_stop_sec": 0.2}});
    let id = session.ok("run", &input)["id"].clone();
    harness_tests::event::file(
        &harness.workspace().join("ready"),
        harness_tests::harness::PATIENCE,
        |text| text == "ready\n",
    );
    let status = session.ok("stop", &json!({"id": id}));
    assert_eq!(status["signal"], "SIGKILL", "{status}");
    assert_eq!(status["result"], "timeout");
}

fn a_signal_reaches_the_main_process() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let cmd = "trap 'echo got; exit 7' USR1; echo ready > ready; while :; do sleep 0.01; done";
    let id = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}))["id"].clone();
    harness_tests::event::file(
        &harness.workspace().join("ready"),
        harness_tests::harness::PATIENCE,
        |text| text == "ready\n",
    );
    session.ok("signal", &json!({"id": id, "signal": "USR1"}));
    let status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
    assert_eq!(status["exit_code"], 7, "{status}");
    assert_eq!(status["stdout"]["tail"], "got\n");
}

fn a_signal_to_a_task_at_rest_says_so() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let id = session.ok("run", &json!({"cmd": "true"}))["id"].clone();
    let result = session.call("signal", &json!({"id": id, "signal": "TERM"}));
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.to_string().contains("at rest"), "{result}");
}

fn a_program_that_does_not_exist_is_exit_code_127_of_the_shell() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "no-such-program-here"}));
    assert_eq!(status["exit_code"], 127, "{status}");
}

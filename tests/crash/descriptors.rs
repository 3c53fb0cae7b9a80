//! No file descriptors left.

use harness_tests::{command, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![a_daemon_without_descriptors_says_so_and_loses_nothing]
}

/// Sets the limit of a running process.
fn limit(pid: i32, files: u32) {
    let mut prlimit = command::command("prlimit");
    prlimit.args([&format!("--nofile={files}:"), "--pid", &pid.to_string()]);
    command::run(prlimit, b"", PATIENCE).ok();
}

fn a_daemon_without_descriptors_says_so_and_loses_nothing() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let running = session.ok(
        "run",
        &json!({"cmd": "echo kept; exec sleep 1000", "wait_seconds": 0}),
    )["id"]
        .clone();
    let open = std::fs::read_dir(format!("/proc/{}/fd", harness.daemon_pid()))
        .unwrap()
        .count();
    limit(harness.daemon_pid(), u32::try_from(open).unwrap() - 1);
    let result = session.call("run", &json!({"cmd": "true"}));
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(
        result["structuredContent"]["error"]["retryable"], true,
        "{result}"
    );
    assert!(
        result
            .to_string()
            .to_lowercase()
            .contains("too many open files"),
        "{result}"
    );
    limit(harness.daemon_pid(), 1024);
    assert_eq!(
        session.ok("run", &json!({"cmd": "echo again"}))["stdout"]["tail"],
        "again\n"
    );
    let status = session.ok("status", &json!({"id": running}));
    assert_eq!(
        (&status["status"], &status["stdout"]["tail"]),
        (&json!("running"), &json!("kept\n")),
        "{status}"
    );
}

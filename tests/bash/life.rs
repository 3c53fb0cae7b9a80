//! A task's life beside its client's and the daemon's.

use std::time::{Duration, Instant};

use harness_tests::{event, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_task_outlives_its_client_and_is_listed,
        a_restart_never_runs_two_instances_and_keeps_the_id,
        a_shutdown_is_bounded_though_clients_wait_and_watch,
        editors_and_pagers_cannot_hang_a_task,
        an_interrupted_daemon_ends_its_tasks_and_its_keeper,
    ]
}

fn a_task_outlives_its_client_and_is_listed() {
    let harness = Harness::start();
    let mut first = harness.mcp(Some("bash"));
    let id = first.ok("run", &json!({"cmd": "exec sleep 1000", "wait_seconds": 0}))["id"].clone();
    drop(first);
    let tasks = harness.mcp(Some("bash")).ok("list", &json!({}))["tasks"].clone();
    assert_eq!(
        (&tasks[0]["id"], &tasks[0]["status"]),
        (&id, &json!("running")),
        "{tasks}"
    );
}

fn a_restart_never_runs_two_instances_and_keeps_the_id() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    // Two at once would both hold the directory.
    let cmd = "mkdir held || { echo two >> faults; exit 1; }; trap 'rmdir held; exit 0' TERM; echo up >> ups; while :; do sleep 0.01; done";
    let id = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}))["id"].clone();
    let ups = harness.workspace().join("ups");
    event::file(&ups, PATIENCE, |text| text == "up\n");
    for round in 2..4 {
        let status = session.ok("restart", &json!({"id": id}));
        assert_eq!(status["id"], id);
        event::file(&ups, PATIENCE, |text| text.lines().count() == round);
    }
    assert!(!harness.workspace().join("faults").exists());
    session.ok("stop", &json!({"id": id}));
    let status = session.ok("restart", &json!({"id": id}));
    assert_eq!(
        status["status"], "running",
        "a task at rest is started again: {status}"
    );
}

fn a_shutdown_is_bounded_though_clients_wait_and_watch() {
    let mut harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let (mut bash, mut wakes) = (harness.mcp(Some("bash")), harness.mcp(Some("wakes")));
    bash.begin(
        "tools/call",
        &json!({"name": "run", "arguments": {"cmd": "exec sleep 1000", "wait_seconds": 30}}),
    );
    wakes.begin(
        "tools/call",
        &json!({"name": "wakes_recv", "arguments": {"wait_seconds": 180}}),
    );
    bash.request("ping", &json!({}));
    let mut events =
        std::os::unix::net::UnixStream::connect(harness.runtime().join("control.sock")).unwrap();
    std::io::Write::write_all(
        &mut events,
        b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
    )
    .unwrap();
    harness.get("/v1/status");
    let begun = Instant::now();
    assert_eq!(harness.stop_daemon(), 0);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

fn editors_and_pagers_cannot_hang_a_task() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let cmd = "git init -q . && git config user.email a@example.org && git config user.name a && git commit -q --allow-empty -m one; \
               git log --oneline | wc -l; git commit -q --allow-empty; echo $?; $PAGER < /etc/hostname > /dev/null && echo paged";
    let status = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 30}));
    assert_eq!(status["status"], "done", "{status}");
    let tail = status["stdout"]["tail"].as_str().unwrap();
    assert!(
        tail.starts_with("1\n") && tail.ends_with("paged\n") && !tail.contains("\n0\n"),
        "{status}"
    );
}

fn an_interrupted_daemon_ends_its_tasks_and_its_keeper() {
    let mut harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    session.ok(
        "run",
        &json!({"cmd": "echo $$ > pid; exec sleep 1000", "wait_seconds": 0}),
    );
    let pid = event::file(&harness.workspace().join("pid"), PATIENCE, |text| {
        text.ends_with('\n')
    });
    let keeper = harness.keeper_pid();
    assert_eq!(harness.interrupt_daemon(), 0);
    event::ended(pid.trim().parse().unwrap(), PATIENCE);
    event::ended(keeper, PATIENCE);
    assert!(!harness.has_keeper(), "another keeper took its place");
}

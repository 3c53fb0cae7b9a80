//! The same promises where the keeper is no root and may make no cgroup.

use harness_tests::{
    event,
    harness::{Harness, PATIENCE, unprivileged_missing},
    trials,
};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![if unprivileged_missing();
        an_unprivileged_task_that_kills_everything_hits_nothing_of_the_harness,
        nothing_escapes_without_a_cgroup,
        an_unprivileged_task_cannot_look_into_the_harness,
        the_status_says_what_is_not_enforced_and_why,
    ]
}

fn an_unprivileged_task_that_kills_everything_hits_nothing_of_the_harness() {
    let harness = Harness::unprivileged("");
    let mut session = harness.mcp(Some("bash"));
    let other = session.ok("run", &json!({"cmd": "sleep 1000", "wait_seconds": 0}))["id"].clone();
    let (daemon, keeper) = (harness.daemon_pid(), harness.keeper_pid());
    let status = session.ok(
        "run",
        &json!({"cmd": "kill -9 -1; kill -9 $PPID; echo after", "wait_seconds": 30}),
    );
    assert_ne!(status["status"], "running", "{status}");
    assert!(event::lives(daemon) && event::lives(keeper));
    assert_eq!(
        session.ok("status", &json!({"id": other}))["status"],
        "running"
    );
}

fn nothing_escapes_without_a_cgroup() {
    let harness = Harness::unprivileged("");
    let mut session = harness.mcp(Some("bash"));
    let escapes = [
        "sleep 1000 & echo $! > pid",
        "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done",
        "(setsid sh -c '(sh -c \"echo \\$\\$ > pid; exec sleep 1000\") & exit'); while ! [ -s pid ]; do sleep 0.01; done",
        "env -i setsid nohup sh -c 'trap \"\" TERM HUP; echo $$ > pid; while :; do sleep 1000; done' >/dev/null 2>&1 & while ! [ -s pid ]; do sleep 0.01; done",
    ];
    for cmd in escapes {
        let path = harness.workspace().join("pid");
        std::fs::remove_file(&path).unwrap_or_default();
        let input = json!({"cmd": cmd, "wait_seconds": 30, "unit": {"timeout_stop_sec": 0.3}});
        let status = session.ok("run", &input);
        let pid = event::file(&path, PATIENCE, |text| text.ends_with('\n'));
        assert!(
            !event::lives(pid.trim().parse().unwrap()),
            "{cmd}: {pid} lives: {status}"
        );
        assert_eq!(status["exit_code"], 0, "{cmd}: {status}");
        assert!(
            status["left_over"].as_u64().unwrap() >= 1,
            "{cmd}: {status}"
        );
    }
}

fn an_unprivileged_task_cannot_look_into_the_harness() {
    let harness = Harness::unprivileged("");
    let mut session = harness.mcp(Some("bash"));
    session.ok(
        "run",
        &json!({"cmd": "echo $$ > pid; exec sleep 1000", "wait_seconds": 0}),
    );
    let other = event::file(&harness.workspace().join("pid"), PATIENCE, |text| {
        text.ends_with('\n')
    });
    for pid in [
        harness.daemon_pid(),
        harness.keeper_pid(),
        other.trim().parse().unwrap(),
    ] {
        let cmd = format!(
            "cat /proc/{pid}/environ > got 2>/dev/null; wc -c < got; kill -0 {pid} 2>/dev/null && echo signalled"
        );
        let status = session.ok("run", &json!({"cmd": cmd}));
        assert_eq!(status["stdout"]["tail"], "0\n", "{pid}: {status}");
    }
}

fn the_status_says_what_is_not_enforced_and_why() {
    let harness = Harness::unprivileged("");
    let status = harness.get("/v1/status");
    let protections = status["enforcement"].as_array().unwrap();
    let cgroup = protections
        .iter()
        .find(|protection| protection["name"] == "cgroup")
        .unwrap();
    assert_eq!(cgroup["enforced"], false, "{cgroup}");
    let mut session = harness.mcp(Some("bash"));
    let limited = session.ok("run", &json!({"cmd": "true", "unit": {"tasks_max": 50}}));
    assert!(
        limited["note"].as_str().unwrap().contains("tasks_max"),
        "{limited}"
    );
}

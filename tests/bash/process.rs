//! What a task may do to the processes around it, and what is left of it: nothing.

use harness_tests::{event, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_background_job_is_ended_with_its_task_and_counted,
        setsid_does_not_escape,
        a_double_fork_does_not_escape,
        a_double_fork_that_ignores_sigterm_does_not_escape_and_is_no_timeout_of_its_task,
        nohup_does_not_escape,
        a_task_leaves_no_zombie,
        a_detached_child_that_holds_stdout_delays_nothing,
        there_is_no_terminal_and_stdin_is_empty,
        the_daemon_cannot_be_signalled_from_a_task,
        kill_minus_nine_minus_one_hits_nothing_of_the_harness,
        a_command_that_kills_its_parent_hits_nothing_of_the_harness,
        the_environment_of_daemon_keeper_and_other_tasks_cannot_be_read,
    ]
}

/// Runs a command that writes a pid into `pid`, and checks that this process ended with its task.
#[track_caller]
fn leaves_nothing(cmd: &str) -> Value {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok(
        "run",
        &json!({"cmd": cmd, "wait_seconds": 30, "unit": {"timeout_stop_sec": 0.3}}),
    );
    assert_eq!(status["status"], "done", "{status}");
    let pid = std::fs::read_to_string(harness.workspace().join("pid")).unwrap();
    assert!(
        !event::lives(pid.trim().parse().unwrap()),
        "{cmd}: {pid} lives"
    );
    status
}

fn a_background_job_is_ended_with_its_task_and_counted() {
    let status = leaves_nothing("sleep 1000 & echo $! > pid");
    assert_eq!(status["left_over"], 1, "{status}");
    assert_eq!(status["exit_code"], 0);
}

fn setsid_does_not_escape() {
    leaves_nothing(
        "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done",
    );
}

fn a_double_fork_does_not_escape() {
    leaves_nothing(
        "(setsid sh -c '(sh -c \"echo \\$\\$ > pid; exec sleep 1000\") & exit' ); while ! [ -s pid ]; do sleep 0.01; done",
    );
}

fn a_double_fork_that_ignores_sigterm_does_not_escape_and_is_no_timeout_of_its_task() {
    let status = leaves_nothing(
        "(setsid sh -c '(trap \"\" TERM; sh -c \"echo \\$\\$ > pid; exec sleep 1000\") & exit' ); while ! [ -s pid ]; do sleep 0.01; done",
    );
    assert_eq!(status["exit_code"], 0, "{status}");
    assert_eq!(status["result"], "timeout", "as systemd says: {status}");
    assert!(status["left_over"].as_u64() >= Some(1), "{status}");
}

fn nohup_does_not_escape() {
    leaves_nothing("nohup sleep 1000 >/dev/null 2>&1 & echo $! > pid");
}

fn a_task_leaves_no_zombie() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    for round in 0..20 {
        let cmd = format!("for i in 1 2 3; do sleep 100{round} & done");
        session.ok("run", &json!({"cmd": cmd, "wait_seconds": 30}));
    }
    let keeper = harness.keeper_pid();
    let children =
        std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).unwrap();
    assert_eq!(children, "", "the keeper still has children");
}

fn a_detached_child_that_holds_stdout_delays_nothing() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let unit = json!({"kill_mode": "process"});
    let status = session.ok(
        "run",
        &json!({"cmd": "setsid sleep 5 & echo done", "wait_seconds": 30, "unit": unit}),
    );
    assert_eq!(status["status"], "done", "{status}");
    assert!(status["duration_secs"].as_f64().unwrap() < 4.0, "{status}");
}

fn there_is_no_terminal_and_stdin_is_empty() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let cmd =
        "tty; cat | wc -c; (exec 3</dev/tty) 2>/dev/null && echo has a tty; read x || echo eof";
    let status = session.ok("run", &json!({"cmd": cmd}));
    assert_eq!(status["stdout"]["tail"], "not a tty\n0\neof\n", "{status}");
}

fn the_daemon_cannot_be_signalled_from_a_task() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let (daemon, keeper) = (harness.daemon_pid(), harness.keeper_pid());
    let cmd = format!(
        "kill -9 {daemon} 2>/dev/null && echo killed; kill -9 {keeper} 2>/dev/null && echo killed; echo end"
    );
    let status = session.ok("run", &json!({"cmd": cmd}));
    assert_eq!(status["stdout"]["tail"], "end\n", "{status}");
    assert!(event::lives(daemon) && event::lives(keeper));
}

fn kill_minus_nine_minus_one_hits_nothing_of_the_harness() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let other = session.ok("run", &json!({"cmd": "sleep 1000", "wait_seconds": 0}))["id"].clone();
    let (daemon, keeper) = (harness.daemon_pid(), harness.keeper_pid());
    session.ok(
        "run",
        &json!({"cmd": "kill -9 -1; echo after", "wait_seconds": 30}),
    );
    assert!(event::lives(daemon) && event::lives(keeper));
    assert_eq!(
        session.ok("status", &json!({"id": other}))["status"],
        "running"
    );
}

fn a_command_that_kills_its_parent_hits_nothing_of_the_harness() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok(
        "run",
        &json!({"cmd": "kill -9 $PPID; echo still here", "wait_seconds": 30}),
    );
    assert_eq!(status["stdout"]["tail"], "still here\n", "{status}");
    assert!(event::lives(harness.keeper_pid()));
}

fn the_environment_of_daemon_keeper_and_other_tasks_cannot_be_read() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    session.ok(
        "run",
        &json!({"cmd": "echo $$ > pid; exec sleep 1000", "wait_seconds": 0}),
    );
    let path = harness.workspace().join("pid");
    let other = event::file(&path, PATIENCE, |text| text.ends_with('\n'));
    let pids = [
        harness.daemon_pid(),
        harness.keeper_pid(),
        other.trim().parse().unwrap(),
    ];
    for pid in pids {
        let cmd = format!(
            "cat /proc/{pid}/environ >/dev/null 2>&1 && echo read; cat /proc/{pid}/mem 2>&1 >/dev/null | head -c 100; echo end"
        );
        let status = session.ok("run", &json!({"cmd": cmd}));
        let tail = status["stdout"]["tail"].as_str().unwrap();
        assert!(!tail.starts_with("read\n"), "{pid}: {tail}");
    }
}

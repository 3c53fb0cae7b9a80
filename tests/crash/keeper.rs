//! The keeper dies, and with it its tasks.

use harness_tests::{event, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        tasks_of_a_killed_keeper_are_interrupted_woken_and_gone,
        tasks_run_again_after_the_keeper_was_killed,
        a_daemon_that_starts_after_its_keeper_died_says_interrupted,
    ]
}

fn tasks_of_a_killed_keeper_are_interrupted_woken_and_gone() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let (mut bash, mut wakes) = (harness.mcp(Some("bash")), harness.mcp(Some("wakes")));
    let cmd = "setsid sh -c 'trap \"\" TERM; echo $$ > pid; exec sleep 1000' & sleep 1000";
    let id = bash.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}))["id"].clone();
    let pid = event::file(&harness.workspace().join("pid"), PATIENCE, |text| {
        text.ends_with('\n')
    });
    kill(Pid::from_raw(harness.keeper_pid()), Signal::SIGKILL).unwrap();
    let received = wakes.ok("wakes_recv", &json!({"wait_seconds": 60}))["wakes"].clone();
    assert_eq!(received[0]["status"], "interrupted", "{received}");
    let status = bash.ok("status", &json!({"id": id}));
    assert_eq!(status["status"], "interrupted", "{status}");
    assert_eq!(status["exit_code"], json!(null));
    event::ended(pid.trim().parse().unwrap(), PATIENCE);
}

fn tasks_run_again_after_the_keeper_was_killed() {
    let harness = Harness::start();
    let mut bash = harness.mcp(Some("bash"));
    let keeper = harness.keeper_pid();
    kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
    event::ended(keeper, PATIENCE);
    let mut result = bash.call("run", &json!({"cmd": "echo again", "wait_seconds": 30}));
    while result["structuredContent"]["error"]["retryable"] == true {
        result = bash.call("run", &json!({"cmd": "echo again", "wait_seconds": 30}));
    }
    assert_eq!(
        result["structuredContent"]["stdout"]["tail"], "again\n",
        "{result}"
    );
}

fn a_daemon_that_starts_after_its_keeper_died_says_interrupted() {
    let mut harness = Harness::start();
    let id = harness
        .mcp(Some("bash"))
        .ok("run", &json!({"cmd": "sleep 1000", "wait_seconds": 0}))["id"]
        .clone();
    let keeper = harness.keeper_pid();
    harness.kill_daemon();
    kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
    event::ended(keeper, PATIENCE);
    harness.start_daemon();
    let status = harness.mcp(Some("bash")).ok("status", &json!({"id": id}));
    assert_eq!(status["status"], "interrupted", "{status}");
}

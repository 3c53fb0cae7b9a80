//! Two of everything at once.

use harness_tests::{command, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_second_daemon_on_the_same_state_refuses_to_start_and_names_the_first,
        a_stale_socket_is_replaced,
        many_sessions_at_once_each_get_their_own_answers,
    ]
}

fn a_second_daemon_on_the_same_state_refuses_to_start_and_names_the_first() {
    let harness = Harness::start();
    let mut command = harness.daemon_command();
    command.stderr(std::process::Stdio::piped());
    let output = command::run(command, b"", PATIENCE);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(
        output.stderr.contains(&harness.daemon_pid().to_string()),
        "{output:?}"
    );
    assert_eq!(
        harness.mcp(Some("bash")).ok("run", &json!({"cmd": "true"}))["exit_code"],
        0
    );
}

fn a_stale_socket_is_replaced() {
    let mut harness = Harness::start();
    harness.kill_daemon();
    assert!(harness.runtime().join("mcp.sock").exists());
    harness.start_daemon();
    assert_eq!(
        harness.mcp(Some("bash")).ok("run", &json!({"cmd": "true"}))["exit_code"],
        0
    );
}

fn many_sessions_at_once_each_get_their_own_answers() {
    let harness = Harness::start();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let harness = &harness;
            scope.spawn(move || {
                let mut session = harness.mcp(Some("bash"));
                for round in 0..10 {
                    let expected = format!("{number} {round}\n");
                    let input =
                        json!({"cmd": format!("echo {number} {round}"), "wait_seconds": 30});
                    assert_eq!(session.ok("run", &input)["stdout"]["tail"], expected);
                }
            });
        }
    });
}

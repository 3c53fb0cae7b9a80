//! The keeper's service.

use harness_tests::{mcp::Session, systemd::Agent, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        a_killed_keeper_takes_its_tasks_along_and_is_started_again,
        a_keeper_that_was_stopped_alone_is_back_at_once_without_its_tasks,
    ]
}

fn a_killed_keeper_takes_its_tasks_along_and_is_started_again() {
    let agent = Agent::started("keeperless", "tool_groups = [\"wakes\"]\n");
    let stubborn = "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; echo $$ > deep; exec sleep 1000' & exec sleep 1000";
    let id = agent.run(&["--", stubborn]);
    agent.line_in("deep");
    let socket = agent.systemd.inner_path(&agent.runtime()).join("mcp.sock");
    let mut wakes = Session::open(&socket, Some("wakes"));
    let (daemon, keeper) = (
        agent.main_pid(&agent.daemon()),
        agent.main_pid(&agent.keeper()),
    );
    agent
        .systemd
        .systemctl(&["kill", "--signal=KILL", "--kill-whom=main", &agent.keeper()]);
    let received = wakes.ok("wakes_recv", &json!({"wait_seconds": 60}))["wakes"].clone();
    assert_eq!(
        (&received[0]["unit"], &received[0]["status"]),
        (&json!(id), &json!("interrupted")),
        "{received}"
    );
    assert_eq!(agent.task(&id)["exit_code"], json!(null));
    agent.systemd.journal_until(&agent.keeper(), "Started ", 2);
    assert_ne!(agent.main_pid(&agent.keeper()), keeper);
    assert_eq!(agent.main_pid(&agent.daemon()), daemon);
    assert!(
        !agent.processes().contains("sleep"),
        "{}",
        agent.processes()
    );
    assert!(agent.prints_again());
}

/// Its socket stays, so the daemon brings it back by connecting anew; its tasks are gone.
fn a_keeper_that_was_stopped_alone_is_back_at_once_without_its_tasks() {
    let agent = Agent::started("waiting", "");
    let stubborn = "trap '' TERM; echo $$ > pid; sleep 1000 & wait; sleep 1000";
    let id = agent.run(&["--unit", "timeout_stop_sec=1", "--", stubborn]);
    agent.line_in("pid");
    let keeper = agent.main_pid(&agent.keeper());
    agent.systemd.systemctl(&["stop", &agent.keeper()]);
    agent.systemd.journal_until(&agent.keeper(), "Started ", 2);
    assert_ne!(agent.main_pid(&agent.keeper()), keeper);
    assert!(
        !agent.processes().contains("sleep"),
        "{}",
        agent.processes()
    );
    assert_ne!(agent.task(&id)["status"], "running");
    assert!(agent.prints_again());
}

//! The keeper's service.

use harness_tests::{systemd::Agent, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        a_killed_keeper_takes_its_tasks_along_and_is_started_again,
        a_stopped_keeper_is_waited_for_and_comes_with_the_next_start,
    ]
}

fn a_killed_keeper_takes_its_tasks_along_and_is_started_again() {
    let agent = Agent::started("keeperless", "tool_groups = [\"wakes\"]\n");
    let stubborn = "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; echo $$ > deep; exec sleep 1000' & exec sleep 1000";
    let id = agent.run(&["--", stubborn]);
    agent.line_in("deep");
    let (daemon, keeper) = (
        agent.main_pid(&agent.daemon()),
        agent.main_pid(&agent.keeper()),
    );
    agent
        .systemd
        .systemctl(&["kill", "--signal=KILL", "--kill-whom=main", &agent.keeper()]);
    // 125: nobody knows how it ended.
    assert_eq!(agent.ctl(&["wait", &id]).code, 125);
    assert_eq!(agent.task(&id)["status"], "interrupted");
    let wakes = agent.ctl(&["--json", "wakes"]).ok();
    assert!(
        wakes.stdout.contains(&id) && wakes.stdout.contains("interrupted"),
        "{wakes:?}"
    );
    agent.systemd.journal_until(&agent.keeper(), "Started ", 2);
    assert_ne!(agent.main_pid(&agent.keeper()), keeper);
    assert_eq!(agent.main_pid(&agent.daemon()), daemon);
    assert!(
        !agent.processes().contains("sleep"),
        "{}",
        agent.processes()
    );
    let again = agent.ctl(&["run", "--wait", "--", "echo again"]);
    assert!(again.stdout.contains("again\n"), "{again:?}");
}

/// The daemon outlives its keeper's stop; its next call brings the keeper back by the socket.
fn a_stopped_keeper_is_waited_for_and_comes_with_the_next_start() {
    let agent = Agent::started("waiting", "");
    let id = agent.run(&["--", "exec sleep 1000"]);
    agent.systemd.systemctl(&["stop", &agent.keeper()]);
    assert_eq!(
        agent.processes().lines().count(),
        1,
        "only the daemon: {}",
        agent.processes()
    );
    assert_ne!(agent.task(&id)["status"], "running");
    agent.systemd.systemctl(&["restart", &agent.daemon()]);
    assert!(
        agent
            .ctl(&["run", "--wait", "--", "echo again"])
            .ok()
            .stdout
            .contains("again\n")
    );
}

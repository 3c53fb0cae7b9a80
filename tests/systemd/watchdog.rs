//! A daemon that hangs.

use harness_tests::{systemd::Agent, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing; a_daemon_that_hangs_is_killed_and_started_again_and_its_tasks_live_on]
}

fn a_daemon_that_hangs_is_killed_and_started_again_and_its_tasks_live_on() {
    let agent = Agent::new("hanger", "");
    agent.drop_in(
        &agent.daemon(),
        "[Service]\nWatchdogSec=3s\nRestartSec=100ms\n",
    );
    agent.systemd.systemctl(&["start", &agent.daemon()]);
    let gate = agent.fifo("gate");
    let id = agent.run(&["--", "echo $$ > pid; read x < gate; exit 7"]);
    agent.line_in("pid");
    let (daemon, keeper) = (
        agent.main_pid(&agent.daemon()),
        agent.main_pid(&agent.keeper()),
    );
    agent
        .systemd
        .systemctl(&["kill", "--signal=STOP", "--kill-whom=main", &agent.daemon()]);
    agent
        .systemd
        .journal_until(&agent.daemon(), "Watchdog timeout", 1);
    agent.systemd.journal_until(&agent.daemon(), "Started ", 2);
    assert_ne!(agent.main_pid(&agent.daemon()), daemon);
    assert_eq!(agent.main_pid(&agent.keeper()), keeper);
    assert_eq!(agent.systemd.property(&agent.daemon(), "NRestarts"), "1");
    assert_eq!(agent.task(&id)["status"], "running");
    std::fs::write(&gate, "go\n").unwrap();
    assert_eq!(agent.ctl(&["wait", &id]).code, 7);
}

//! `systemctl reload`.

use harness_tests::{systemd::Agent, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        a_reload_puts_a_changed_configuration_in_force_and_touches_no_task,
        a_bad_file_keeps_the_old_configuration_and_the_status_says_why,
    ]
}

const OLD: &str = "[environment]\nset = { WHICH = \"old\" }\n";

#[track_caller]
fn which(agent: &Agent) -> String {
    let id = agent.run(&["--wait", "--json", "--", "echo $WHICH"]);
    let status: serde_json::Value = serde_json::from_str(&id).unwrap();
    status["stdout"]["tail"].as_str().unwrap().trim().to_owned()
}

fn a_reload_puts_a_changed_configuration_in_force_and_touches_no_task() {
    let agent = Agent::started("reloader", OLD);
    assert_eq!(which(&agent), "old");
    let id = agent.run(&["--", "exec sleep 1000"]);
    let daemon = agent.main_pid(&agent.daemon());
    agent.write_config("[environment]\nset = { WHICH = \"new\" }\n");
    agent.systemd.systemctl(&["reload", &agent.daemon()]);
    agent
        .systemd
        .journal_until(&agent.daemon(), "configuration reloaded", 1);
    assert_eq!(which(&agent), "new");
    assert_eq!(agent.task(&id)["status"], "running");
    assert_eq!(agent.main_pid(&agent.daemon()), daemon);
    assert_eq!(
        agent.systemd.property(&agent.daemon(), "ActiveState"),
        "active"
    );
}

fn a_bad_file_keeps_the_old_configuration_and_the_status_says_why() {
    let agent = Agent::started("misconfigured", OLD);
    agent.write_config("[environment]\nst = { WHICH = \"new\" }\n");
    agent.systemd.systemctl(&["reload", &agent.daemon()]);
    agent
        .systemd
        .journal_until(&agent.daemon(), "not reloaded", 1);
    assert_eq!(which(&agent), "old");
    let status = agent
        .systemd
        .exec(&["systemctl", "status", "--full", &agent.daemon()])
        .ok()
        .stdout;
    let line = status
        .lines()
        .find(|line| line.contains("Status:"))
        .unwrap_or("")
        .to_owned();
    for part in ["reload was refused", "misconfigured.toml:3:1", "no key"] {
        assert!(
            line.contains(part),
            "{part} is not in {line:?} of\n{status}"
        );
    }
    let check = agent
        .systemd
        .exec(&["harnessd", "--system", "--agent", agent.name, "--check"]);
    assert_eq!(check.code, 1, "{check:?}");
    // Mended, it is taken, and the complaint is gone.
    agent.write_config("[environment]\nset = { WHICH = \"mended\" }\n");
    agent.systemd.systemctl(&["reload", &agent.daemon()]);
    agent
        .systemd
        .journal_until(&agent.daemon(), "configuration reloaded", 1);
    assert_eq!(which(&agent), "mended");
    assert_eq!(
        agent.ctl(&["--json", "status"]).ok().json()["config_error"],
        serde_json::Value::Null
    );
}

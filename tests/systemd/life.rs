//! Start, restart and stop of the services.

use std::{fs, os::unix::net::UnixListener, time::Instant};

use harness_tests::{systemd::Agent, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        the_service_brings_its_keeper_and_says_how_it_is,
        a_task_runs_through_a_restart_of_the_service,
        a_stop_of_both_services_ends_every_process_and_is_bounded,
        what_a_former_harness_left_behind_does_not_hinder_the_next_start,
    ]
}

fn the_service_brings_its_keeper_and_says_how_it_is() {
    let agent = Agent::started("starter", "");
    for unit in [agent.daemon(), agent.keeper()] {
        assert_eq!(
            agent.systemd.property(&unit, "ActiveState"),
            "active",
            "{unit}"
        );
        assert_eq!(
            agent.systemd.property(&unit, "SubState"),
            "running",
            "{unit}"
        );
    }
    let status = agent
        .systemd
        .exec(&["systemctl", "status", &agent.daemon()])
        .ok();
    assert!(
        status.stdout.contains("Status: \"0 units, 0 sessions\""),
        "{status:?}"
    );
    let output = agent.ctl(&["run", "--wait", "--", "id -un; pwd"]).ok();
    assert!(output.stdout.contains("starter\n"), "{output:?}");
    assert!(output.stdout.contains("/srv/starter\n"), "{output:?}");
}

fn a_task_runs_through_a_restart_of_the_service() {
    let agent = Agent::started("restarter", "");
    let gate = agent.fifo("gate");
    let id = agent.run(&[
        "--",
        "echo before; echo $$ > pid; read x < gate; echo after; exit 9",
    ]);
    let pid = agent.line_in("pid");
    let (daemon, keeper) = (
        agent.main_pid(&agent.daemon()),
        agent.main_pid(&agent.keeper()),
    );
    agent.systemd.systemctl(&["restart", &agent.daemon()]);
    assert_ne!(agent.main_pid(&agent.daemon()), daemon);
    assert_eq!(agent.main_pid(&agent.keeper()), keeper);
    assert_eq!(agent.task(&id)["status"], "running");
    assert!(
        agent
            .processes()
            .lines()
            .any(|line| line.trim_start().starts_with(&format!("{pid} "))),
        "the task's process is another one"
    );
    fs::write(&gate, "go\n").unwrap();
    assert_eq!(agent.ctl(&["wait", &id]).code, 9);
    assert_eq!(agent.ctl(&["output", &id]).ok().stdout, "before\nafter\n");
}

fn a_stop_of_both_services_ends_every_process_and_is_bounded() {
    let agent = Agent::started("stopper", "");
    let stubborn = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > deep; exec sleep 1000' & echo $$ > main; wait; sleep 1000";
    agent.run(&["--unit", "timeout_stop_sec=2", "--", stubborn]);
    agent.run(&["--", "echo $$ > mild; exec sleep 1000"]);
    for name in ["deep", "main", "mild"] {
        agent.line_in(name);
    }
    let begin = Instant::now();
    agent
        .systemd
        .systemctl(&["stop", &agent.daemon(), &agent.keeper()]);
    let took = begin.elapsed();
    assert!(took.as_secs_f64() < 20.0, "it took {took:?}");
    assert_eq!(agent.processes(), "");
    let cgroup = format!("test ! -e /sys/fs/cgroup/harnessd.slice/{}", agent.keeper());
    assert_eq!(agent.systemd.shell(&cgroup).code, 0, "its cgroup is left");
    for unit in [agent.daemon(), agent.keeper()] {
        assert_eq!(agent.systemd.property(&unit, "Result"), "success", "{unit}");
        assert_eq!(
            agent.systemd.property(&unit, "ActiveState"),
            "inactive",
            "{unit}"
        );
    }
}

/// Sockets nobody listens on, the lock's file, and a process in the cgroup of a unit that was.
fn what_a_former_harness_left_behind_does_not_hinder_the_next_start() {
    let agent = Agent::started("leftover", "");
    let id = agent.run(&["--", "exec sleep 1000"]);
    let (daemon, keeper) = (agent.daemon(), agent.keeper());
    agent
        .systemd
        .systemctl(&["stop", &daemon, &keeper, "harness-keeper@leftover.socket"]);
    for name in ["mcp.sock", "control.sock", "keeper.sock"] {
        let path = agent.systemd.inner_path(&agent.runtime()).join(name);
        fs::remove_file(&path).unwrap_or_default();
        drop(UnixListener::bind(&path).unwrap());
        std::os::unix::fs::chown(&path, Some(agent.uid), None).unwrap();
    }
    let service = format!("/sys/fs/cgroup/harnessd.slice/{keeper}");
    let leave = format!(
        "mkdir -p {service}/units/{id}; chown -R leftover: {service}
         (echo $BASHPID >{service}/units/{id}/cgroup.procs; exec setpriv --reuid=leftover --clear-groups sleep 1000) >/dev/null 2>&1 &
         until pgrep -u leftover sleep; do :; done"
    );
    let left = agent.systemd.shell(&leave).ok().stdout;
    agent.systemd.systemctl(&["start", &daemon]);
    assert!(
        !agent.processes().contains("sleep"),
        "process {left} of the former keeper lives"
    );
    assert_eq!(agent.task(&id)["status"], "interrupted");
    assert!(agent.prints_again());
    let cgroup = agent
        .ctl(&["run", "--wait", "--", "cat /proc/self/cgroup"])
        .ok()
        .stdout;
    assert!(cgroup.contains(&format!("/{keeper}/units/")), "{cgroup}");
}

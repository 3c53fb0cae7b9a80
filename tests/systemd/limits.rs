//! The keeper's delegated cgroup, and the limits that can be had in it.

use std::fs;

use harness_tests::{systemd::Agent, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    let there = if missing.is_none() {
        controllers()
    } else {
        Vec::new()
    };
    let without = |controller: &str| {
        let lacks = format!("there is no {controller} controller in cgroup v2 here");
        let reason = missing.clone().unwrap_or(lacks);
        (!there.iter().any(|name| name == controller)).then_some(reason)
    };
    let mut trials = trials![if without("pids"); a_fork_bomb_ends_at_tasks_max];
    trials.extend(trials![if without("cpu"); a_busy_loop_gets_no_more_than_its_cpu_quota]);
    trials.extend(
        trials![if without("memory"); a_task_beyond_memory_max_is_oom_killed_and_nothing_else_is],
    );
    trials.extend(trials![if missing;
        a_task_has_a_cgroup_of_its_own_below_the_keepers,
        every_limit_is_enforced_or_named_by_the_harness_and_by_the_task_as_not_enforced,
    ]);
    trials
}

/// Those of the cgroup v2 hierarchy, which a box sees as this machine does.
fn controllers() -> Vec<String> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let mount = mounts.lines().find_map(|line| {
        line.split(' ')
            .nth(1)
            .filter(|_| line.split(' ').nth(2) == Some("cgroup2"))
    });
    let text =
        mount.and_then(|mount| fs::read_to_string(format!("{mount}/cgroup.controllers")).ok());
    text.unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

fn a_task_has_a_cgroup_of_its_own_below_the_keepers() {
    let agent = Agent::started("grouped", "");
    let id = agent.run(&[
        "--",
        "cat /proc/self/cgroup > cgroup; (setsid sleep 1000 &); echo $$ > pid; exec sleep 1000",
    ]);
    agent.line_in("pid");
    let expected = format!("/harnessd.slice/{}/units/{id}", agent.keeper());
    assert!(
        agent
            .line_in("cgroup")
            .lines()
            .any(|line| line.strip_prefix("0::") == Some(&expected)),
        "{}",
        agent.line_in("cgroup")
    );
    let members = agent
        .systemd
        .shell(&format!("cat /sys/fs/cgroup{expected}/cgroup.procs"))
        .ok()
        .stdout;
    assert_eq!(members.lines().count(), 2, "{members}");
    agent.ctl(&["stop", &id]).ok();
    assert_eq!(
        agent
            .systemd
            .shell(&format!("test ! -e /sys/fs/cgroup{expected}"))
            .code,
        0,
        "its cgroup is left"
    );
    // The daemon is in none of it.
    let pid = agent.main_pid(&agent.daemon());
    let daemon = agent
        .systemd
        .shell(&format!("cat /proc/{pid}/cgroup"))
        .ok()
        .stdout;
    assert!(!daemon.contains("/harnessd.slice/"), "{daemon}");
}

fn every_limit_is_enforced_or_named_by_the_harness_and_by_the_task_as_not_enforced() {
    let agent = Agent::started("limited", "");
    let status = agent.ctl(&["--json", "status"]).ok().json();
    let shown = agent.ctl(&["status"]).ok().stdout;
    let there = controllers();
    for (controller, name, setting) in [
        ("memory", "memory_max", "memory_max=512M"),
        ("pids", "tasks_max", "tasks_max=100"),
        ("cpu", "cpu_quota", "cpu_quota=50%"),
    ] {
        let enforced = there.iter().any(|name| name == controller);
        let entries = status["enforcement"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["name"] == name).unwrap();
        assert_eq!(entry["enforced"], enforced, "{entry}");
        let complaint = shown
            .lines()
            .any(|line| line.trim().starts_with(name) && line.contains(controller));
        assert_eq!(complaint, !enforced, "{name}: {shown}");
        let id = agent.run(&["--unit", setting, "--", "exec sleep 1000"]);
        let note = agent.task(&id)["note"].clone();
        assert_eq!(
            note.as_str().is_some_and(|note| note.contains(name)),
            !enforced,
            "{note}"
        );
    }
}

fn a_fork_bomb_ends_at_tasks_max() {
    let agent = Agent::started("bomber", "");
    let bomb = "exec sh -c 'for i in $(seq 200); do sleep 1000 & done; echo survived'";
    let id = agent.run(&[
        "--unit",
        "tasks_max=20",
        "--unit",
        "timeout_stop_sec=5",
        "--",
        bomb,
    ]);
    assert_ne!(agent.ctl(&["wait", &id]).code, 0);
    assert_eq!(agent.ctl(&["output", &id]).ok().stdout, "");
    assert!(
        !agent.processes().contains("sleep"),
        "{}",
        agent.processes()
    );
    assert!(agent.prints_again());
}

fn a_busy_loop_gets_no_more_than_its_cpu_quota() {
    let agent = Agent::started("spinner", "");
    let id = agent.run(&[
        "--timeout",
        "3",
        "--unit",
        "cpu_quota=20%",
        "--",
        "while :; do :; done",
    ]);
    assert_eq!(agent.ctl(&["wait", &id]).code, 124);
    let usage = agent.task(&id)["usage"].clone();
    let used = usage["user_usec"].as_u64().unwrap() + usage["system_usec"].as_u64().unwrap();
    assert!(used < 1_500_000, "{used} µs of 3 s: {usage}");
}

fn a_task_beyond_memory_max_is_oom_killed_and_nothing_else_is() {
    let agent = Agent::started("hungry", "");
    let daemon = agent.main_pid(&agent.daemon());
    let id = agent.run(&[
        "--unit",
        "memory_max=64M",
        "--",
        "x=$(head -c 500M /dev/zero | tr '\\0' x); echo ${#x}",
    ]);
    agent.ctl(&["wait", &id]);
    assert_eq!(agent.task(&id)["result"], "oom-kill");
    assert_eq!(agent.main_pid(&agent.daemon()), daemon);
    agent.ctl(&["run", "--wait", "--", "true"]).ok();
}

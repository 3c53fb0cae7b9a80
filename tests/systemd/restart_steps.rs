//! `RestartSteps=` and `RestartMaxDelaySec=`, which systemd has since version 254.

use std::{fs, path::PathBuf, time::Duration};

use harness_model::{Invocation, TimeSpan};
use harness_tests::{
    binaries, command, event, harness::Harness, harness::PATIENCE, systemd::SystemdBox, trials,
};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    let newer = missing
        .or_else(|| root().err())
        .or_else(|| SystemdBox::missing_with(root().ok().as_deref()));
    let mut trials =
        trials![if newer; the_growing_delays_of_the_engine_are_those_of_a_newer_systemd];
    trials.extend(trials![a_task_waits_longer_from_restart_to_restart]);
    trials
}

/// What the engine's own test compares its arithmetic with.
const TABLE: &str = include_str!("../../daemon/supervise/tests/supervise/systemd-257-steps.txt");

/// The root directory of a newer systemd, or why there is none.
fn root() -> Result<PathBuf, String> {
    let mut find = command::command(binaries::source().join("tests/testbed/newer-systemd"));
    find.arg("find");
    let output = command::run(find, b"", PATIENCE);
    let text = output.stdout.trim();
    if output.code == 0 {
        Ok(text.into())
    } else {
        Err(text.trim_start_matches("skipped: ").to_owned())
    }
}

/// A service that asks systemd in each of its runs how long the next restart will wait.
fn unit(name: &str, settings: &[&str], runs: usize) -> String {
    let [first, steps, max] = settings else {
        panic!("{settings:?}")
    };
    format!(
        "[Unit]\nDefaultDependencies=no\nStartLimitIntervalSec=0\n[Service]\nType=exec\nRestart=always\nRestartPreventExitStatus=99\n\
         RestartSec={first}\nRestartSteps={steps}\nRestartMaxDelaySec={max}\nWorkingDirectory=/srv\n\
         ExecStart=/bin/bash -c 'systemctl show --value -p RestartUSecNext {name}.service >> {name}; \
         [ $$(wc -l < {name}) -lt {runs} ] || exit 99'\n"
    )
}

fn the_growing_delays_of_the_engine_are_those_of_a_newer_systemd() {
    let systemd = SystemdBox::boot(root().ok().as_deref());
    let rows: Vec<(&str, Vec<&str>)> = TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(" | ").unwrap())
        .map(|(settings, delays)| (settings, delays.split(' ').collect()))
        .collect();
    for (number, (settings, delays)) in rows.iter().enumerate() {
        let name = format!("steps-{number}");
        let settings: Vec<&str> = settings.split(' ').collect();
        let path = systemd.path(&format!("/etc/systemd/system/{name}.service"));
        fs::write(path, unit(&name, &settings, delays.len())).unwrap();
    }
    systemd.systemctl(&["daemon-reload"]);
    let names: Vec<String> = (0..rows.len())
        .map(|number| format!("steps-{number}.service"))
        .collect();
    let start: Vec<&str> = ["start"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    systemd.systemctl(&start);
    for (number, (settings, delays)) in rows.iter().enumerate() {
        let path = systemd.path(&format!("/srv/steps-{number}"));
        let told = event::file(&path, PATIENCE, |text| text.lines().count() == delays.len());
        assert_eq!(told.lines().collect::<Vec<_>>(), *delays, "{settings}");
    }
}

/// The whole way, from the keys of a call to the moment that is recorded.
fn a_task_waits_longer_from_restart_to_restart() {
    let harness = Harness::start();
    let unit = json!({"restart": "always", "restart_sec": "10ms", "restart_steps": 3, "restart_max_delay_sec": "2160ms",
        "start_limit_interval_sec": 0, "restart_prevent_exit_status": "99"});
    let cmd = "echo x >> starts; [ $(wc -l < starts) -lt 6 ] || exit 99";
    let id = harness.post(
        "/v1/tasks",
        &json!({"cmd": cmd, "wait_seconds": 0, "unit": unit}),
    )["id"]
        .clone();
    let id = id.as_str().unwrap();
    let status = harness.get(&format!("/v1/tasks/{id}?wait=60"));
    assert_eq!(
        (&status["exit_code"], &status["restarts"]),
        (&json!(99), &json!(5)),
        "{status}"
    );
    let runs: Vec<Invocation> =
        serde_json::from_value(harness.get(&format!("/v1/units/{id}/invocations"))).unwrap();
    // The newest is first.
    let ends = runs
        .iter()
        .skip(1)
        .map(|run| run.exit.as_ref().unwrap().ended_at);
    let waits: Vec<Duration> = runs
        .iter()
        .zip(ends)
        .map(|(next, end)| next.started_at.unwrap().since(end))
        .rev()
        .collect();
    let expected = ["10ms", "60ms", "360ms", "2160ms", "2160ms"]
        .map(|span| span.parse::<TimeSpan>().unwrap().finite().unwrap());
    assert_eq!(waits.len(), expected.len(), "{waits:?}");
    for (wait, expected) in waits.iter().zip(expected) {
        // The end is noticed, and the next run made, a moment after its time.
        let late = wait
            .checked_sub(expected)
            .unwrap_or_else(|| panic!("too early: {waits:?}"));
        assert!(late < Duration::from_secs(1), "{waits:?}");
    }
}

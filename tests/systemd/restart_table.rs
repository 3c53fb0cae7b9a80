//! `Restart=` and its companions: what a real systemd does with a service is what the harness does with a task.

use std::collections::{BTreeMap, BTreeSet};

use harness_tests::{harness::Harness, systemd::SystemdBox, trials};
use libtest_mimic::Trial;

use super::cells::{self, Cell, Outcome, Part};

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing; every_cell_of_the_restart_table_is_systemds]
}

const RESTART: [&str; 6] = [
    "no",
    "on-success",
    "on-failure",
    "on-abnormal",
    "on-abort",
    "always",
];

/// How a run ends.
const ENDS: [Part; 25] = [
    ("exit-0", "exit 0", &[]),
    ("exit-1", "exit 1", &[]),
    ("exit-255", "exit 255", &[]),
    ("term", "kill -TERM $$", &[]),
    ("hup", "kill -HUP $$", &[]),
    ("int", "trap - INT; kill -INT $$", &[]),
    ("pipe", "kill -PIPE $$", &[]),
    ("kill", "kill -KILL $$", &[]),
    ("usr1", "kill -USR1 $$", &[]),
    ("abort", "kill -ABRT $$", &[]),
    ("core-dump", "ulimit -c unlimited; kill -ABRT $$", &[]),
    ("time-up", "exec sleep 1000", &[("runtime_max_sec", "2s")]),
    (
        "time-up-exit-0",
        "trap 'exit 0' TERM; sleep 1000 & wait",
        &[("runtime_max_sec", "2s")],
    ),
    (
        "time-up-exit-1",
        "trap 'exit 1' TERM; sleep 1000 & wait",
        &[("runtime_max_sec", "2s")],
    ),
    (
        "time-up-immune",
        "trap '' TERM; sleep 1000",
        &[("runtime_max_sec", "2s"), ("timeout_stop_sec", "200ms")],
    ),
    (
        "success-code",
        "exit 42",
        &[("success_exit_status", "42 SIGUSR1")],
    ),
    (
        "success-signal",
        "kill -USR1 $$",
        &[("success_exit_status", "42 SIGUSR1")],
    ),
    (
        "success-kill",
        "kill -KILL $$",
        &[("success_exit_status", "SIGKILL")],
    ),
    (
        "prevented-code",
        "exit 75",
        &[("restart_prevent_exit_status", "TEMPFAIL 3")],
    ),
    (
        "prevented-signal",
        "kill -KILL $$",
        &[("restart_prevent_exit_status", "SIGKILL")],
    ),
    (
        "forced-code",
        "exit 0",
        &[("restart_force_exit_status", "0 SIGTERM")],
    ),
    (
        "forced-signal",
        "kill -TERM $$",
        &[("restart_force_exit_status", "0 SIGTERM")],
    ),
    (
        "prevented-and-forced",
        "exit 1",
        &[
            ("restart_prevent_exit_status", "1"),
            ("restart_force_exit_status", "1"),
        ],
    ),
    ("left-child", LEAVE_CHILD, &[("timeout_stop_sec", "200ms")]),
    (
        "left-child-mixed",
        LEAVE_CHILD,
        &[("timeout_stop_sec", "200ms"), ("kill_mode", "mixed")],
    ),
];

/// Ends well and leaves a process that does not listen to SIGTERM.
const LEAVE_CHILD: &str = "trap '' TERM; setsid sleep 1000 & trap - TERM; exit 0";

/// What ends a loop of restarts.
struct Limit {
    name: &'static str,
    /// Goes before the end of the script.
    check: &'static str,
    keys: Vec<(&'static str, String)>,
}

/// The start limit, or an end that is never followed by a restart.
fn limits(end: &Part) -> [Limit; 2] {
    let prevented = end
        .2
        .iter()
        .find(|(key, _)| *key == "restart_prevent_exit_status");
    let prevented = format!("99 {}", prevented.map_or("", |(_, value)| value));
    let keys =
        |keys: [(&'static str, &str); 2]| keys.map(|(key, value)| (key, value.to_owned())).to_vec();
    [
        Limit {
            name: "burst",
            check: "",
            keys: keys([
                ("start_limit_interval_sec", "1h"),
                ("start_limit_burst", "3"),
            ]),
        },
        Limit {
            name: "free",
            check: "[ $(wc -l < starts) -lt 5 ] || exit 99",
            keys: keys([
                ("start_limit_interval_sec", "0"),
                ("restart_prevent_exit_status", prevented.trim()),
            ]),
        },
    ]
}

fn table() -> Vec<Cell> {
    let mut cells = Vec::new();
    for restart in RESTART {
        for end in &ENDS {
            for limit in limits(end) {
                let own = end.2.iter().map(|(key, value)| (*key, (*value).to_owned()));
                let mut keys: BTreeMap<&str, String> = own.chain(limit.keys).collect();
                keys.insert("restart", restart.to_owned());
                keys.insert("restart_sec", "20ms".to_owned());
                cells.push(Cell {
                    name: format!("{restart}-{}-{}", end.0, limit.name),
                    script: format!(
                        "ulimit -S -c 0\necho x >> starts\n{}\n{}\n",
                        limit.check, end.1
                    ),
                    keys: keys.into_iter().collect(),
                });
            }
        }
    }
    cells
}

fn every_cell_of_the_restart_table_is_systemds() {
    let table = table();
    // A box of its own: a daemon-reload for another test would change the units under it.
    let systemd = SystemdBox::boot(None);
    cells::install(&systemd, &table);
    let harness = Harness::start();
    let (of_systemd, ours) = std::thread::scope(|scope| {
        let services = scope.spawn(|| {
            cells::start_and_wait(&systemd, &table);
            cells::of_systemd(&systemd, &table)
        });
        let ids = cells::run_tasks(&harness, &table);
        let ours: BTreeMap<String, Outcome> = table
            .iter()
            .zip(&ids)
            .map(|(cell, id)| (cell.name.clone(), cells::of_task(&harness, cell, id)))
            .collect();
        (services.join().unwrap(), ours)
    });
    assert_eq!(of_systemd.len(), table.len());
    let differences = cells::differences(&table, &of_systemd, &ours);
    assert!(
        differences.is_empty(),
        "{} of {} cells differ:\n{}",
        differences.len(),
        table.len(),
        differences.join("\n")
    );
    // A table that came to nothing else would compare nothing.
    let results: BTreeSet<&str> = ours
        .values()
        .map(|outcome| outcome.result.as_str())
        .collect();
    for result in [
        "success",
        "exit-code",
        "signal",
        "timeout",
        "start-limit-hit",
    ] {
        assert!(
            results.contains(result),
            "no cell came to {result}: {results:?}"
        );
    }
}

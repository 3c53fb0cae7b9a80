//! A stop that somebody asks for: which signals whom, and what it comes to.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use harness_tests::{
    binaries, command, event, harness::Harness, harness::PATIENCE, systemd::SystemdBox, trials,
};
use libtest_mimic::Trial;
use serde_json::Value;

use super::cells::{self, Cell, Outcome, Part};

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        every_cell_of_the_stop_table_is_systemds,
        a_stop_during_the_wait_for_a_restart_is_systemds,
    ]
}

const KILL_MODE: [&str; 3] = ["control-group", "mixed", "process"];

/// Trees: each writes `ready` when it is what it is meant to be, and `child` with a child's pid.
const TREES: [Part; 9] = [
    ("plain", "echo > ready; exec sleep 1000", &[]),
    (
        "immune-main",
        "trap '' TERM; echo > ready; while :; do sleep 1000; done",
        &[],
    ),
    (
        "immune-child",
        "(trap '' TERM; echo $BASHPID > child; exec sleep 1000) & trap 'exit 0' TERM; echo > ready; wait",
        &[],
    ),
    (
        "child",
        "sleep 1000 & echo $! > child; trap 'exit 0' TERM; echo > ready; wait",
        &[],
    ),
    (
        "exit-0",
        "trap 'exit 0' TERM; echo > ready; sleep 1000 & wait",
        &[],
    ),
    (
        "exit-3",
        "trap 'exit 3' TERM; echo > ready; sleep 1000 & wait",
        &[],
    ),
    (
        "other-signal",
        "trap 'exit 4' INT; echo > ready; sleep 1000 & wait",
        &[("kill_signal", "SIGINT")],
    ),
    (
        "usr1",
        "echo > ready; exec sleep 1000",
        &[("kill_signal", "SIGUSR1")],
    ),
    (
        "last-signal",
        "trap '' TERM; echo > ready; while :; do sleep 1000; done",
        &[("final_kill_signal", "SIGQUIT")],
    ),
];

fn table() -> Vec<Cell> {
    let cell = |mode: &str, tree: &Part| {
        let fixed = [
            ("kill_mode", mode),
            ("restart", "always"),
            ("timeout_stop_sec", "2s"),
        ];
        let keys = fixed
            .iter()
            .chain(tree.2)
            .map(|(key, value)| (*key, (*value).to_owned()));
        Cell {
            name: format!("stop-{mode}-{}", tree.0),
            script: format!("ulimit -S -c 0\necho x >> starts\n{}\n", tree.1),
            keys: keys.collect(),
        }
    };
    KILL_MODE
        .iter()
        .flat_map(|mode| TREES.iter().map(move |tree| cell(mode, tree)))
        .collect()
}

/// An outcome, and whether the child lives on.
type Stopped = BTreeMap<String, (Outcome, Option<bool>)>;

fn stop_services(systemd: &SystemdBox, table: &[Cell]) -> Stopped {
    assert_eq!(cells::on_all(systemd, &["start"], table), 0);
    for cell in table {
        event::file(
            &cells::place_in_box(systemd, cell).join("ready"),
            PATIENCE,
            |text| text == "\n",
        );
    }
    assert_eq!(cells::on_all(systemd, &["stop"], table), 0);
    let lives = |cell: &Cell| {
        let pid = std::fs::read_to_string(cells::place_in_box(systemd, cell).join("child")).ok()?;
        let check = format!("grep -q '^State:.[^ZX]' /proc/{}/status", pid.trim());
        Some(systemd.shell(&check).code == 0)
    };
    let outcomes = cells::of_systemd(systemd, table);
    table
        .iter()
        .map(|cell| {
            (
                cell.name.clone(),
                (outcomes[&cell.name].clone(), lives(cell)),
            )
        })
        .collect()
}

fn stop_tasks(harness: &Harness, table: &[Cell]) -> Stopped {
    let ids = cells::run_tasks(harness, table);
    for cell in table {
        event::file(
            &harness.workspace().join(&cell.name).join("ready"),
            PATIENCE,
            |text| text == "\n",
        );
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    harness.ctl(&[&["stop"], &ids[..]].concat()).ok();
    let lives = |cell: &Cell| {
        let pid =
            std::fs::read_to_string(harness.workspace().join(&cell.name).join("child")).ok()?;
        Some(event::lives(pid.trim().parse().unwrap()))
    };
    let outcome = |(cell, id): (&Cell, &&str)| {
        (
            cell.name.clone(),
            (cells::of_task(harness, cell, id), lives(cell)),
        )
    };
    table.iter().zip(&ids).map(outcome).collect()
}

fn every_cell_of_the_stop_table_is_systemds() {
    let table = table();
    let systemd = SystemdBox::boot(None);
    cells::install(&systemd, &table);
    let harness = Harness::start();
    let of_systemd = stop_services(&systemd, &table);
    let ours = stop_tasks(&harness, &table);
    let differences: Vec<String> = table
        .iter()
        .filter(|cell| of_systemd[&cell.name] != ours[&cell.name])
        .map(|cell| {
            format!(
                "{}:\n  systemd {:?}\n  harness {:?}",
                cell.name, of_systemd[&cell.name], ours[&cell.name]
            )
        })
        .collect();
    assert!(
        differences.is_empty(),
        "{} of {} cells differ:\n{}",
        differences.len(),
        table.len(),
        differences.join("\n")
    );
    let lives = |name: &str| ours[name].1 == Some(true);
    assert!(lives("stop-process-immune-child") && !lives("stop-mixed-immune-child"));
}

fn a_stop_during_the_wait_for_a_restart_is_systemds() {
    let ends = [
        ("exit-0", "exit 0"),
        ("exit-1", "exit 1"),
        ("kill", "kill -KILL $$"),
    ];
    let table: Vec<Cell> = ends
        .iter()
        .map(|(name, end)| Cell {
            name: format!("wait-{name}"),
            script: format!("echo x >> starts\n{end}\n"),
            keys: vec![
                ("restart", "always".to_owned()),
                ("restart_sec", "1h".to_owned()),
            ],
        })
        .collect();
    let systemd = SystemdBox::boot(None);
    cells::install(&systemd, &table);
    cells::on_all(&systemd, &["start"], &table);
    for cell in &table {
        let waits = || systemd.property(&cell.service(), "SubState") == "auto-restart";
        assert!(
            waits() || systemd.follow_journal(&cell.service(), |_| waits()),
            "{} does not wait",
            cell.name
        );
    }
    assert_eq!(cells::on_all(&systemd, &["stop"], &table), 0);
    let of_systemd = cells::of_systemd(&systemd, &table);

    let harness = Harness::start();
    let mut events = command::command(binaries::program("harnessctl"));
    events
        .arg("--runtime-dir")
        .arg(harness.runtime())
        .args(["--json", "events"]);
    let mut events = events.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(events.stdout.take().unwrap()).lines();
    let ids = cells::run_tasks(&harness, &table);
    for id in &ids {
        let waits = || harness.get(&format!("/v1/units/{id}"))["sub_state"] == "auto-restart";
        while !waits() {
            let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            assert!(event.is_object());
        }
    }
    events.kill().unwrap();
    events.wait().unwrap();
    let stop: Vec<&str> = ["stop"]
        .into_iter()
        .chain(ids.iter().map(String::as_str))
        .collect();
    harness.ctl(&stop).ok();
    let ours = table
        .iter()
        .zip(&ids)
        .map(|(cell, id)| (cell.name.clone(), cells::of_task(&harness, cell, id)))
        .collect();
    let differences = cells::differences(&table, &of_systemd, &ours);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

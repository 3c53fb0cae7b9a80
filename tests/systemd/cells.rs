//! One script with one set of keys, run as a service of systemd and as a task of a harness.

use std::{collections::BTreeMap, fs, path::Path};

use harness_tests::{harness::Harness, systemd::SystemdBox};
use serde_json::{Map, Value, json};

/// What is compared: a bash script in a directory of its own, and the keys of its unit.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) script: String,
    /// In the harness's words, as in `run`'s `unit`.
    pub(crate) keys: Vec<(&'static str, String)>,
}

/// A part of a cell: its name, lines of its script, and the keys that belong to them.
pub(crate) type Part = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// Where a unit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Lines of the file `starts`.
    pub(crate) starts: usize,
    pub(crate) result: String,
    pub(crate) active_state: String,
    pub(crate) sub_state: String,
    /// `NRestarts`
    pub(crate) restarts: u64,
}

/// Where the cells are in the box.
const TOP: &str = "/srv/cells";

impl Cell {
    /// The word of systemd for a key: `restart_sec` is `RestartSec`.
    fn directive(key: &str) -> String {
        key.split('_')
            .map(|word| match word {
                "oom" => "OOM".to_owned(),
                "cpu" => "CPU".to_owned(),
                _ => word[..1].to_uppercase() + &word[1..],
            })
            .collect()
    }

    /// The unit file.
    fn unit(&self) -> String {
        let section = |limits: bool| {
            let belongs = |key: &str| key.starts_with("start_limit") == limits;
            let lines = self.keys.iter().filter(|(key, _)| belongs(key));
            let lines = lines.map(|(key, value)| format!("{}={value}\n", Self::directive(key)));
            lines.collect::<Vec<_>>().concat()
        };
        format!(
            "[Unit]\nDefaultDependencies=no\n{}[Service]\nType=exec\nWorkingDirectory={TOP}/{name}\nExecStart=/bin/bash script\n{}",
            section(true),
            section(false),
            name = self.name,
        )
    }

    pub(crate) fn service(&self) -> String {
        format!("cell-{}.service", self.name)
    }

    fn write(&self, directory: &Path) {
        let directory = directory.join(&self.name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("script"), &self.script).unwrap();
    }
}

/// Lays the cells into the box, not started; a target that stays active and names them keeps what they came to.
pub(crate) fn install(systemd: &SystemdBox, cells: &[Cell]) {
    let units = systemd.path("/etc/systemd/system");
    for cell in cells {
        cell.write(&systemd.path(TOP));
        fs::write(units.join(cell.service()), cell.unit()).unwrap();
    }
    let names: Vec<String> = cells.iter().map(Cell::service).collect();
    let target = format!("[Unit]\nAfter={}\n", names.join(" "));
    fs::write(units.join("cells.target"), target).unwrap();
    systemd.systemctl(&["daemon-reload"]);
    systemd.systemctl(&["start", "cells.target"]);
}

/// The place of a cell in the box, as this side sees it.
pub(crate) fn place_in_box(systemd: &SystemdBox, cell: &Cell) -> std::path::PathBuf {
    systemd.path(TOP).join(&cell.name)
}

/// `systemctl` with these words and all services of the cells; gives its exit status.
pub(crate) fn on_all(systemd: &SystemdBox, words: &[&str], cells: &[Cell]) -> i32 {
    let services: Vec<String> = cells.iter().map(Cell::service).collect();
    let services = services.iter().map(String::as_str);
    let words: Vec<&str> = [&["systemctl"], words]
        .concat()
        .into_iter()
        .chain(services)
        .collect();
    systemd.exec(&words).code
}

/// Starts the services and waits until each has come to rest.
pub(crate) fn start_and_wait(systemd: &SystemdBox, cells: &[Cell]) {
    // It takes the moment between two runs for the end now and then.
    on_all(systemd, &["start", "--wait"], cells);
    for service in unfinished(systemd, "cell-*.service") {
        // Each change of its state is a line.
        let came = systemd.follow_journal(&service, |_| unfinished(systemd, &service).is_empty());
        assert!(came, "{service} does not come to rest");
    }
}

/// Those of the services that run, or are going to.
fn unfinished(systemd: &SystemdBox, pattern: &str) -> Vec<String> {
    shown(systemd, "Id,ActiveState,Job", pattern)
        .into_iter()
        .filter(|values| {
            let ended = ["inactive", "failed"].contains(&values["ActiveState"].as_str());
            !ended || values.get("Job").is_some_and(|job| !job.is_empty())
        })
        .map(|values| values["Id"].clone())
        .collect()
}

/// Properties of services, as systemd prints them.
fn shown(systemd: &SystemdBox, properties: &str, pattern: &str) -> Vec<BTreeMap<String, String>> {
    let shown = systemd
        .systemctl(&["show", "--all", "-p", properties, "--", pattern])
        .stdout;
    let values = |block: &str| {
        let pairs = block.lines().filter_map(|line| line.split_once('='));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    shown.trim().split("\n\n").map(values).collect()
}

/// What the services came to, by the name of the cell.
pub(crate) fn of_systemd(systemd: &SystemdBox, cells: &[Cell]) -> BTreeMap<String, Outcome> {
    let mut outcomes = BTreeMap::new();
    let properties = "Id,Result,ActiveState,SubState,NRestarts";
    for values in shown(systemd, properties, "cell-*.service") {
        let value = |name: &str| values[name].clone();
        let id = value("Id");
        let Some(cell) = cells.iter().find(|cell| cell.service() == id) else {
            continue;
        };
        let outcome = Outcome {
            starts: starts(&place_in_box(systemd, cell)),
            result: value("Result"),
            active_state: value("ActiveState"),
            sub_state: value("SubState"),
            restarts: value("NRestarts").parse().unwrap(),
        };
        outcomes.insert(cell.name.clone(), outcome);
    }
    outcomes
}

fn starts(place: &Path) -> usize {
    fs::read_to_string(place.join("starts"))
        .unwrap_or_default()
        .lines()
        .count()
}

/// Starts the cells as tasks; gives their ids, in order.
pub(crate) fn run_tasks(harness: &Harness, cells: &[Cell]) -> Vec<String> {
    cells
        .iter()
        .map(|cell| {
            cell.write(&harness.workspace());
            let unit: Map<String, Value> = cell.keys.iter().map(|(key, value)| ((*key).to_owned(), typed(key, value))).collect();
            let input = json!({"cmd": "exec /bin/bash script", "cwd": cell.name, "name": cell.name, "wait_seconds": 0, "unit": unit});
            harness.post("/v1/tasks", &input)["id"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// Numbers are numbers in JSON.
fn typed(key: &str, value: &str) -> Value {
    match key {
        "start_limit_burst" | "restart_steps" => json!(value.parse::<u64>().unwrap()),
        _ => json!(value),
    }
}

/// What a task came to, once it has ended.
pub(crate) fn of_task(harness: &Harness, cell: &Cell, id: &str) -> Outcome {
    let status = harness.get(&format!("/v1/tasks/{id}?wait=60"));
    let value = |name: &str| {
        status[name]
            .as_str()
            .unwrap_or_else(|| panic!("no {name} in {status}"))
            .to_owned()
    };
    Outcome {
        starts: starts(&harness.workspace().join(&cell.name)),
        result: value("result"),
        active_state: value("active_state"),
        sub_state: value("sub_state"),
        restarts: status["restarts"].as_u64().unwrap(),
    }
}

/// Every cell whose two outcomes differ, a line each.
pub(crate) fn differences(
    cells: &[Cell],
    of_systemd: &BTreeMap<String, Outcome>,
    ours: &BTreeMap<String, Outcome>,
) -> Vec<String> {
    let differ = |cell: &&Cell| of_systemd.get(&cell.name) != ours.get(&cell.name);
    let line = |cell: &Cell| {
        format!(
            "{}:\n  systemd {:?}\n  harness {:?}",
            cell.name,
            of_systemd.get(&cell.name),
            ours.get(&cell.name)
        )
    };
    cells.iter().filter(differ).map(line).collect()
}

//! Every example is one that works.

use std::{
    fs,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use harness_tests::{harness::PATIENCE, systemd::SystemdBox, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::evaluation::Evaluation;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        each_example_has_no_fault_and_its_configuration_passes_the_check_that_builds_it,
        an_example_has_ten_lines,
    ]
}

/// Those that need a systemd.
pub(crate) fn trials_in_a_box(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        systemd_loads_the_units_of_each_example_without_a_complaint,
        the_harness_of_the_smallest_example_runs_a_task_for_its_agent,
    ]
}

/// Each system of the examples: the examples', and those of their containers.
fn systems(examples: &Value) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (name, example) in examples.as_object().unwrap() {
        all.push((format!("examples.{name}"), example));
        for (container, system) in example["containers"].as_object().into_iter().flatten() {
            all.push((format!("examples.{name}.containers.{container}"), system));
        }
    }
    all
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|of| of == extension)
}

fn each_example_has_no_fault_and_its_configuration_passes_the_check_that_builds_it() {
    let evaluation = Evaluation::new();
    let examples = evaluation.value("examples");
    let mut built = 0;
    for (attribute, system) in systems(&examples) {
        assert_eq!(system["faults"], json!([]), "{attribute}");
        let files = system["files"].as_object().unwrap();
        for file in files.keys().filter(|file| has_extension(file, "toml")) {
            let path = evaluation
                .build(&format!("{attribute}.files.\"{file}\""))
                .unwrap_or_else(|error| panic!("{attribute}: {file}: {error}"));
            let text = fs::read_to_string(path).unwrap();
            assert!(text.contains("workspace"), "{attribute}: {file}: {text}");
            built += 1;
        }
    }
    // One of each example, and one of each of the five containers.
    assert_eq!(built, 9, "{examples}");
}

fn an_example_has_ten_lines() {
    let file = harness_tests::binaries::source().join("examples/nixos/one-agent.nix");
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(
        text.lines().filter(|line| !line.starts_with('#')).count(),
        9,
        "{text}"
    );
}

/// Two examples name their agent `coder`: one at a time is in the shared box.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts what NixOS would put into the box's /etc, for one manager.
fn place(systemd: &SystemdBox, manager: &str, files: &Value) -> Vec<String> {
    let mut placed = Vec::new();
    for (name, text) in files.as_object().unwrap() {
        let path = format!("/etc/systemd/{manager}/{name}");
        let file = systemd.path(&path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text.as_str().unwrap()).unwrap();
        placed.push(path);
    }
    placed
}

fn unit_names(files: &Value) -> Vec<String> {
    let names = files.as_object().unwrap().keys();
    let unit = |name: &String| name.split(".d/").next().unwrap().to_owned();
    // The template of a container's unit is NixOS's own.
    names
        .map(unit)
        .filter(|name| !name.starts_with("container@"))
        .collect()
}

fn systemd_loads_the_units_of_each_example_without_a_complaint() {
    let evaluation = Evaluation::new();
    let examples = evaluation.value("examples");
    let systemd = SystemdBox::shared();
    let _turn = turn();
    let mut checked = 0;
    for (attribute, system) in systems(&examples) {
        let is_system = system["units"].is_object();
        let (manager, files) = if is_system {
            ("system", system["units"].clone())
        } else {
            ("user", drop_ins_of_a_user(system))
        };
        let placed = place(&systemd, manager, &files);
        let units = unit_names(&files);
        if !units.is_empty() {
            let flag = if is_system { "" } else { "--user" };
            let script = format!(
                "mkdir -p /run/user/0; XDG_RUNTIME_DIR=/run/user/0 systemd-analyze verify {flag} --man=no {}",
                units.join(" ")
            );
            let output = systemd.shell(&script);
            assert_eq!(
                (output.code, output.stderr.as_str()),
                (0, ""),
                "{attribute}: {units:?}"
            );
            checked += units.len();
        }
        for path in placed {
            fs::remove_file(systemd.path(&path)).unwrap();
        }
    }
    assert!(checked >= 25, "{checked}");
    the_check_can_fail(&systemd);
}

fn the_check_can_fail(systemd: &SystemdBox) {
    let files = json!({ "harnessd@coder.service.d/overrides.conf": "[Service]\nUsre=coder\n" });
    let placed = place(systemd, "system", &files);
    let output = systemd.shell("systemd-analyze verify --man=no harnessd@coder.service 2>&1");
    assert!(output.stdout.contains("Usre"), "{output:?}");
    fs::remove_file(systemd.path(&placed[0])).unwrap();
}

fn drop_ins_of_a_user(system: &Value) -> Value {
    let files = system["files"].as_object().unwrap();
    let of_systemd = files.iter().filter_map(|(name, text)| {
        let name = name.strip_prefix("systemd/user/")?;
        has_extension(name, "conf").then(|| (name.to_owned(), text.clone()))
    });
    Value::Object(of_systemd.collect())
}

fn the_harness_of_the_smallest_example_runs_a_task_for_its_agent() {
    let evaluation = Evaluation::new();
    let example = evaluation.value("examples.one-agent");
    let file = evaluation
        .build("examples.one-agent.files.\"harnessd/coder.toml\"")
        .unwrap();
    let systemd = SystemdBox::shared();
    let _turn = turn();
    systemd.add_user("coder");
    fs::copy(file, systemd.path("/etc/harnessd/coder.toml")).unwrap();
    let placed = place(&systemd, "system", &example["units"]);
    systemd.systemctl(&["daemon-reload"]);
    systemd.systemctl(&["start", "harnessd@coder.service"]);
    let run = [
        "harnessctl",
        "--agent",
        "coder",
        "run",
        "--wait",
        "--",
        "id -un; pwd",
    ];
    let output = harness_tests::command::run(systemd.command(&run), b"", PATIENCE).ok();
    let lines: Vec<&str> = output.stdout.lines().map(str::trim).collect();
    for line in ["coder", "/srv/coder"] {
        assert!(lines.contains(&line), "{output:?}");
    }
    // The rule of the example: what is on the list runs, the rest is asked about.
    let explain = |command: &str| {
        systemd
            .exec(&[
                "harnessctl",
                "--agent",
                "coder",
                "explain",
                "shell",
                command,
            ])
            .stdout
    };
    assert!(
        explain("git status").contains("allow"),
        "{}",
        explain("git status")
    );
    assert!(
        explain("git push").contains("ask"),
        "{}",
        explain("git push")
    );
    systemd.systemctl(&[
        "stop",
        "harnessd@coder.service",
        "harness-keeper@coder.service",
        "harness-keeper@coder.socket",
    ]);
    for path in placed {
        fs::remove_file(systemd.path(&path)).unwrap();
    }
    systemd.systemctl(&["daemon-reload"]);
}

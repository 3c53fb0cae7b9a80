//! The shipped group `systemd`, beside a real one.

use harness_tests::{binaries, clients, systemd::SystemdBox, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{MODES, python_with};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if clients::python_missing().or_else(SystemdBox::missing);
        units_are_looked_at_and_changed,
        a_unit_that_fails_is_told_with_its_last_words,
        only_units_that_the_settings_name_are_changed,
    ]
}

/// Calls in the box, one after another.
fn run(systemd: &SystemdBox, mode: &str, settings: &Value, calls: &Value) -> Value {
    let host = binaries::program("harness-plugin-host");
    let library = binaries::library("harness_systemd");
    let command = systemd.command(&[
        host.to_str().unwrap(),
        "--settings",
        &settings.to_string(),
        library.to_str().unwrap(),
    ]);
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .collect();
    python_with(mode, &words, calls)
}

/// Gives the box a service.
fn service(systemd: &SystemdBox, name: &str, text: &str) {
    let path = systemd.path(&format!("/etc/systemd/system/{name}.service"));
    let text = format!("[Unit]\nDescription=For a test\n[Service]\n{text}\n");
    std::fs::write(path, text).unwrap();
    systemd.systemctl(&["daemon-reload"]);
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Everything that can be done with a unit, and what cannot.
fn calls_on(name: &str) -> Value {
    let unit = format!("{name}.service");
    let units = json!({"units": [name]});
    json!([
        ["start", units],
        ["reload", units],
        ["status", {"unit": name}],
        ["list", {"patterns": [format!("{name}*")]}],
        ["show", {"unit": unit, "properties": ["Description"]}],
        ["cat", {"unit": unit}],
        ["restart", units],
        ["stop", units],
        ["logs", {"unit": name, "lines": 50}],
        ["status", {"unit": "no-such-unit"}],
        ["stop", {"units": ["no-such-unit"]}],
        ["status", {"unit": "--version"}],
    ])
}

fn units_are_looked_at_and_changed() {
    let systemd = SystemdBox::shared();
    for (mode, _) in MODES {
        let name = format!("plugin-{mode}");
        let unit = format!("{name}.service");
        let lines =
            "ExecStart=sh -c 'echo it is up; exec sleep infinity'\nExecReload=echo it is reloaded";
        service(&systemd, &name, lines);
        let report = run(&systemd, mode, &json!({}), &calls_on(&name));
        the_annotations_say_what_changes(&report);
        let results: Vec<&Value> = report["results"].as_array().unwrap().iter().collect();
        let state =
            |result: &Value| result["structuredContent"]["units"][&unit]["active_state"].clone();
        assert_eq!(state(results[0]), "active", "{report}");
        assert_eq!(state(results[1]), "active", "{report}");
        let status = &results[2]["structuredContent"];
        assert_eq!(status["properties"]["ActiveState"], "active", "{report}");
        assert_eq!(
            results[3]["structuredContent"]["units"][0]["unit"],
            json!(unit)
        );
        assert!(
            text(results[4]).contains("Description=For a test"),
            "{report}"
        );
        assert!(
            text(results[5]).contains("ExecReload=echo it is reloaded"),
            "{report}"
        );
        assert_eq!(state(results[6]), "active", "{report}");
        assert_eq!(state(results[7]), "inactive", "{report}");
        let logs = text(results[8]);
        assert!(
            logs.contains("it is up") && logs.contains("it is reloaded"),
            "{logs}"
        );
        for result in &results[9..11] {
            assert!(
                text(result).contains("there is no unit no-such-unit.service"),
                "{report}"
            );
        }
        assert!(text(results[11]).contains("no name of a unit"), "{report}");
        assert!(
            results[9..].iter().all(|result| result["isError"] == true),
            "{report}"
        );
    }
}

fn the_annotations_say_what_changes(report: &Value) {
    let annotations = |tool: &str| report["tools"][tool]["annotations"].clone();
    for tool in ["list", "status", "show", "cat", "logs"] {
        assert_eq!(annotations(tool)["readOnlyHint"], true, "{tool}");
    }
    for tool in ["start", "stop", "restart", "reload"] {
        assert_eq!(annotations(tool)["destructiveHint"], true, "{tool}");
    }
}

fn a_unit_that_fails_is_told_with_its_last_words() {
    let systemd = SystemdBox::shared();
    service(
        &systemd,
        "plugin-broken",
        "Type=oneshot\nExecStart=sh -c 'echo that is why; exit 3'",
    );
    let units = json!({"units": ["plugin-broken"]});
    let calls = json!([["start", units], ["list", {"states": ["failed"]}]]);
    let report = run(&systemd, "legacy", &json!({}), &calls);
    let failed = &report["results"][0];
    assert_eq!(failed["isError"], true, "{report}");
    assert!(
        text(failed).contains("plugin-broken.service: failed (failed), exit-code"),
        "{report}"
    );
    assert!(text(failed).contains("that is why"), "{report}");
    assert!(
        text(&report["results"][1]).contains("plugin-broken.service"),
        "{report}"
    );
}

fn only_units_that_the_settings_name_are_changed() {
    let systemd = SystemdBox::shared();
    service(&systemd, "plugin-mine", "ExecStart=sleep infinity");
    service(&systemd, "plugin-other", "ExecStart=sleep infinity");
    let start = |unit: &str| json!(["start", {"units": [unit]}]);
    let both = json!(["start", {"units": ["plugin-mine", "plugin-other"]}]);
    let calls = json!([both, start("plugin-other"), ["status", {"unit": "plugin-mine"}], start("plugin-mine")]);
    let settings = json!({"manage": ["plugin-mine.*"]});
    let report = run(&systemd, "legacy", &settings, &calls);
    let results = report["results"].as_array().unwrap();
    for refused in &results[..2] {
        assert!(
            text(refused).contains("is not among the units that may be changed"),
            "{report}"
        );
    }
    let before = &results[2]["structuredContent"]["properties"]["ActiveState"];
    assert_eq!(before, "inactive", "{report}");
    assert_eq!(results[3]["isError"], false, "{report}");
    systemd.systemctl(&["stop", "plugin-mine"]);
    assert_eq!(systemd.property("plugin-other", "ActiveState"), "inactive");
}

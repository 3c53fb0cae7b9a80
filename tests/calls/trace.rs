//! `trace = true`

use harness_tests::{event, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        every_event_is_a_line_of_the_trace_to_the_last_one,
        without_the_key_there_is_no_trace,
        a_reload_switches_the_trace_on_and_off,
        a_trace_that_cannot_be_written_stops_nothing,
    ]
}

fn lines(harness: &Harness) -> Vec<Value> {
    let text = std::fs::read_to_string(harness.state().join("trace.ndjson")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn every_event_is_a_line_of_the_trace_to_the_last_one() {
    let mut harness = Harness::with_config("trace = true\n[tool.shell]\nmode = \"allow\"\n");
    let mut events = harness.events();
    harness.ctl(&["shell", "echo live"]).ok();
    harness.ctl(&["run", "--wait=30", "--", "true"]).ok();
    events.next("shell_output");
    assert_eq!(harness.stop_daemon(), 0);
    let lines = lines(&harness);
    let names: Vec<&str> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    for name in ["tool_call", "unit_changed", "tool_result"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.contains(&"shell_output"), "{names:?}");
    assert_eq!(
        names.iter().filter(|name| **name == "tool_result").count(),
        2
    );
    let numbers: Vec<u64> = lines
        .iter()
        .map(|line| line["seq"].as_u64().unwrap())
        .collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    // The next daemon goes on in the same file.
    let before = lines.len();
    harness.start_daemon();
    harness.ctl(&["run", "--wait=30", "--", "true"]).ok();
    assert_eq!(harness.stop_daemon(), 0);
    assert!(self::lines(&harness).len() > before);
}

fn without_the_key_there_is_no_trace() {
    let harness = Harness::start();
    harness.ctl(&["run", "--wait=30", "--", "true"]).ok();
    assert!(!harness.state().join("trace.ndjson").exists());
}

fn a_reload_switches_the_trace_on_and_off() {
    let harness = Harness::start();
    let path = harness.state().join("trace.ndjson");
    harness.write_config("trace = true\n");
    harness.ctl(&["reload"]).ok();
    event::file(&path, PATIENCE, |_| path.exists());
    harness.post(
        "/v1/tools/run/call",
        &json!({"cmd": "true traced", "wait_seconds": 30}),
    );
    event::file(&path, PATIENCE, |text| {
        text.contains("true traced") && text.contains("tool_result")
    });
    harness.write_config("");
    harness.ctl(&["reload"]).ok();
    harness.post(
        "/v1/tools/run/call",
        &json!({"cmd": "true unseen", "wait_seconds": 30}),
    );
    harness.write_config("trace = true\n");
    harness.ctl(&["reload"]).ok();
    harness.post("/v1/tools/list/call", &json!({}));
    let text = event::file(&path, PATIENCE, |text| text.contains("\"list\""));
    assert!(!text.contains("unseen"), "{text}");
}

fn a_trace_that_cannot_be_written_stops_nothing() {
    let mut harness = Harness::prepared("trace = true\n");
    std::fs::create_dir_all(harness.state().join("trace.ndjson")).unwrap();
    harness.start_daemon();
    harness.ctl(&["run", "--wait=30", "--", "true"]).ok();
    assert!(harness.log().contains("trace"), "{}", harness.log());
    assert_eq!(harness.stop_daemon(), 0);
}

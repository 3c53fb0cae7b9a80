//! Clients that nobody here wrote do the whole job.

use std::time::Duration;

use harness_tests::{binaries, command, harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::http;

/// A client of its own runtime takes its time to start.
const LIMIT: Duration = Duration::from_mins(2);

pub(crate) fn trials() -> Vec<Trial> {
    let missing = |path: &str, what: &str| {
        (!binaries::tools().join(path).exists()).then(|| format!("{what} is not installed"))
    };
    let mut all = trials![if missing("venv/bin/python", "the Python MCP SDK"); the_python_sdk_does_the_job_over_stdio];
    all.extend(trials![if missing("node_modules/.bin/mcp-inspector", "the MCP Inspector"); the_inspector_does_the_job_over_http]);
    all.extend(trials![if missing("node_modules/.bin/conformance", "the MCP conformance suite"); the_conformance_suite_passes_but_for_its_baseline]);
    all
}

fn the_python_sdk_does_the_job_over_stdio() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let config = harness.ctl(&["mcp-config", "--client", "claude"]).ok();
    let file = harness.path("harness.json");
    std::fs::write(&file, config.stdout).unwrap();
    let mut client = command::command(binaries::tools().join("venv/bin/python"));
    client
        .arg(binaries::source().join("tests/fixtures/sdk_client.py"))
        .arg(&file);
    let report = command::run(client, b"", LIMIT).ok().json();
    assert!(
        report["tools"].as_array().unwrap().contains(&json!("run")),
        "{report}"
    );
    assert_eq!(report["exit_code"], 3, "{report}");
    assert_eq!(report["stdout"], "from the sdk\n");
    assert_eq!(
        report["started"],
        format!("task started: id={}", report["id"].as_str().unwrap())
    );
    assert_eq!(report["stopped"], "stopped");
    assert_eq!(report["wrong"], true);
    let wake = format!("bash-task-{}", report["woken"].as_str().unwrap());
    let from = report["wakes"]["from"].as_array().unwrap();
    assert!(from.contains(&json!(wake)), "{report}");
    assert_eq!(
        report["wakes"]["acknowledged"].as_array().unwrap().len(),
        from.len()
    );
}

fn inspector(port: u16, words: &[&str]) -> command::Output {
    let mut client = command::command(binaries::tools().join("node_modules/.bin/mcp-inspector"));
    client
        .args([
            "--cli",
            &format!("http://127.0.0.1:{port}/mcp/group/bash"),
            "--transport",
            "http",
        ])
        .args([
            "--header",
            &format!("Authorization: Bearer {}", http::TOKEN),
        ])
        .args(words);
    command::run(client, b"", LIMIT)
}

fn the_inspector_does_the_job_over_http() {
    let (_harness, port) = http::start();
    let tools = inspector(port, &["--method", "tools/list"]).ok().json();
    assert!(
        tools["tools"]
            .as_array()
            .unwrap()
            .iter()
            .any(|tool| tool["name"] == "run"),
        "{tools}"
    );
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "run",
        "--tool-arg",
        "cmd=echo inspected",
    ];
    let result = inspector(port, &call).ok().json();
    assert_eq!(
        result["structuredContent"]["stdout"]["tail"], "inspected\n",
        "{result}"
    );
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "run",
        "--tool-arg",
        "cmd=sleep 1000",
        "--tool-arg",
        "wait_seconds=0",
    ];
    let id = inspector(port, &call).ok().json()["structuredContent"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "stop",
        "--tool-arg",
        &format!("id={id}"),
    ];
    let stopped = inspector(port, &call).ok().json();
    assert_eq!(
        stopped["structuredContent"]["status"], "stopped",
        "{stopped}"
    );
}

fn the_conformance_suite_passes_but_for_its_baseline() {
    panic!("not wired yet");
}

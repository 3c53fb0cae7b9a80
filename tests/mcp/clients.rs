//! Clients that nobody here wrote do the whole job.

use std::time::Duration;

use harness_tests::{clients, command, harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::http;
use crate::wakes;

/// A client of its own runtime takes its time to start.
const LIMIT: Duration = Duration::from_mins(2);

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = trials![if clients::python_missing();
        the_python_sdk_does_the_job_over_stdio_in_a_session,
        the_python_sdk_does_the_job_over_stdio_without_a_session,
        the_python_sdk_does_the_job_over_http_in_a_session,
        the_python_sdk_does_the_job_over_http_without_a_session,
        the_python_sdk_follows_a_task_and_cancels_one,
    ];
    all.extend(trials![if clients::node_missing("mcp-inspector");
        the_inspector_does_the_job_over_http,
        the_inspector_follows_a_task_to_its_result,
        the_inspector_shows_why_a_call_is_refused,
    ]);
    all
}

/// The servers as `harnessctl mcp-config` names them.
fn stdio(harness: &Harness) -> Value {
    harness
        .ctl(&["mcp-config", "--client", "claude"])
        .ok()
        .json()
}

/// The same over HTTP.
fn over_http(port: u16) -> Value {
    let server = |group: &str| {
        json!({
            "url": format!("http://127.0.0.1:{port}/mcp/group/{group}"),
            "headers": {"Authorization": format!("Bearer {}", http::TOKEN)},
        })
    };
    json!({"mcpServers": {"bash": server("bash"), "wakes": server("wakes")}})
}

/// What a script of the Python SDK reports.
fn python(harness: &Harness, script: &str, servers: &Value, words: &[&str]) -> Value {
    let config = harness.path("servers.json");
    std::fs::write(&config, servers.to_string()).unwrap();
    let mut client = clients::python(script);
    client.arg(config).args(words);
    command::run(client, b"", LIMIT).ok().json()
}

fn the_python_sdk_does_the_job(harness: &Harness, servers: &Value, mode: &str) {
    let report = python(harness, "sdk_client.py", servers, &[mode]);
    let session = mode == "legacy";
    let version = if session { "2025-11-25" } else { "2026-07-28" };
    assert_eq!(report["version"], version, "{report}");
    let tools = report["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("run")), "{report}");
    assert_eq!(report["exit_code"], 3, "{report}");
    assert_eq!(report["stdout"], "from the sdk\n");
    let told = format!("task {} is running", text(&report["short"]));
    assert_eq!(report["progress"], json!([told]), "{report}");
    let started = format!("task started: id={}", text(&report["id"]));
    assert_eq!(report["started"], started);
    assert_eq!(report["running"], "running");
    assert_eq!(report["stopped"], "stopped");
    assert_eq!(report["wrong"]["is_error"], true);
    let refusal = text(&report["wrong"]["text"]);
    assert!(refusal.contains("run(cmd: string"), "{refusal}");
    let absent = text(&report["absent"]);
    assert!(absent.contains("did you mean `run`?"), "{absent}");
    let wake = json!(format!("bash-task-{}", text(&report["woken"])));
    let notices = report["notices"].as_array().unwrap();
    assert_eq!(notices.contains(&wake), session, "{report}");
    let from = report["wakes"]["from"].as_array().unwrap();
    assert_eq!(from.iter().filter(|from| **from == wake).count(), 1);
    assert_eq!(report["wakes"]["left"], json!([]), "{report}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn the_python_sdk_does_the_job_over_stdio_in_a_session() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    the_python_sdk_does_the_job(&harness, &stdio(&harness), "legacy");
}

fn the_python_sdk_does_the_job_over_stdio_without_a_session() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    the_python_sdk_does_the_job(&harness, &stdio(&harness), "auto");
}

fn the_python_sdk_does_the_job_over_http_in_a_session() {
    let (harness, port) = http::start();
    the_python_sdk_does_the_job(&harness, &over_http(port), "legacy");
}

fn the_python_sdk_does_the_job_over_http_without_a_session() {
    let (harness, port) = http::start();
    the_python_sdk_does_the_job(&harness, &over_http(port), "auto");
}

fn the_python_sdk_follows_a_task_and_cancels_one() {
    let (harness, port) = http::start();
    for servers in [stdio(&harness), over_http(port)] {
        let gate = harness.workspace().join("gate");
        nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let report = python(&harness, "sdk_tasks.py", &servers, &[]);
        std::fs::remove_file(gate).unwrap();
        let followed = &report["followed"];
        assert_eq!(followed["task"], followed["id"], "{report}");
        assert_eq!(followed["stdout"], "got it\n");
        assert_eq!(followed["polls"][0], "working");
        assert_eq!(followed["short"], "done");
        assert_eq!(followed["handles"], 1, "{report}");
        let cancelled = &report["cancelled"];
        assert_eq!(cancelled["text"], "cancelled", "{report}");
        let refused = json!({"tasks/get": -32602, "tasks/cancel": -32602});
        assert_eq!(cancelled["refused"], refused, "{report}");
        let status = harness.get(&format!("/v1/tasks/{}", text(&cancelled["task"])));
        assert_eq!(status["status"], "stopped", "{status}");
    }
    // Cancelling is a call like any other; that of a task which is not there is one that failed.
    let calls = harness.get("/v1/calls?tool=stop");
    let calls = calls["items"].as_array().unwrap();
    let ok = calls.iter().filter(|call| call["state"] == "ok").count();
    assert_eq!(ok, 4, "{calls:?}");
    // Every end was told by `tasks/get` or within its call, which is noted a moment later.
    wakes::until_no_wake_is_due(&harness);
}

/// The Inspector's command line on the tool group `bash`.
fn inspector(harness: &Harness, port: u16, era: &str, words: &[&str]) -> command::Output {
    let mut client = clients::node("mcp-inspector", harness.path("home"));
    client
        .arg("--cli")
        .arg(format!("http://127.0.0.1:{port}/mcp/group/bash"))
        .args(["--transport", "http", "--protocol-era", era, "--header"])
        .arg(format!("Authorization: Bearer {}", http::TOKEN))
        .args(words);
    command::run(client, b"", LIMIT)
}

/// A call of a tool by the Inspector.
fn inspect(harness: &Harness, port: u16, era: &str, tool: &str, input: &Value) -> command::Output {
    let input = input.to_string();
    let words = ["--method", "tools/call", "--tool-name", tool];
    let words = [&words[..], &["--tool-args-json", &input]].concat();
    inspector(harness, port, era, &words)
}

fn the_inspector_does_the_job_over_http() {
    let (harness, port) = http::start();
    for era in ["legacy", "modern"] {
        let tools = inspector(&harness, port, era, &["--method", "tools/list"]);
        let tools = tools.ok().json()["tools"].clone();
        let names: Vec<&str> = tools
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| text(&tool["name"]))
            .collect();
        assert!(names.contains(&"run"), "{names:?}");
        let call = |tool: &str, input: &Value| {
            let result = inspect(&harness, port, era, tool, input).ok().json();
            result["structuredContent"].clone()
        };
        let ended = call("run", &json!({"cmd": "echo inspected"}));
        assert_eq!(ended["stdout"]["tail"], "inspected\n", "{ended}");
        // In the stateless protocol the Inspector declares tasks, and would wait for the end.
        let task = harness.post(
            "/v1/tasks",
            &json!({"cmd": "sleep 1000", "wait_seconds": 0}),
        )["id"]
            .clone();
        let listed = call("list", &json!({}));
        assert_eq!(listed["tasks"][0]["id"], task, "{listed}");
        let status = call("status", &json!({"id": task}));
        assert_eq!(status["status"], "running", "{status}");
        let stopped = call("stop", &json!({"id": task}));
        assert_eq!(stopped["status"], "stopped", "{stopped}");
    }
    let started = inspect(
        &harness,
        port,
        "legacy",
        "run",
        &json!({"cmd": "sleep 1000", "wait_seconds": 0}),
    );
    let started = started.ok().json();
    let id = text(&started["structuredContent"]["id"]);
    let said = format!("task started: id={id}");
    assert_eq!(started["content"][0]["text"], said, "{started}");
}

fn the_inspector_follows_a_task_to_its_result() {
    let (harness, port) = http::start();
    let input = json!({"cmd": "sleep 1.5; echo late", "wait_seconds": 0});
    let result = inspect(&harness, port, "modern", "run", &input).ok().json();
    assert_eq!(
        result["structuredContent"]["stdout"]["tail"], "late\n",
        "{result}"
    );
    // Every end was told by `tasks/get` or within its call, which is noted a moment later.
    wakes::until_no_wake_is_due(&harness);
}

fn the_inspector_shows_why_a_call_is_refused() {
    let (harness, port) = http::start();
    for era in ["legacy", "modern"] {
        let refused = inspect(
            &harness,
            port,
            era,
            "run",
            &json!({"cmd": "true", "colour": 1}),
        );
        assert_ne!(refused.code, 0, "{refused:?}");
        let result = refused.json();
        assert_eq!(result["isError"], true, "{result}");
        let message = text(&result["content"][0]["text"]);
        assert!(message.contains("'colour' was unexpected"), "{message}");
        assert!(message.contains("run(cmd: string"), "{message}");
        let code = &result["structuredContent"]["error"]["code"];
        assert_eq!(code, "invalid_input", "{result}");
    }
}

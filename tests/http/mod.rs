//! `control.sock`: the person's side.

use std::io::{BufRead, BufReader, Write};

use harness_tests::{command, harness::Harness, harness::PATIENCE, http, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_task_is_made_watched_and_stopped_over_http,
        every_wrong_request_is_refused_in_the_same_form,
        events_resume_where_a_reader_left_off,
        a_process_under_the_keeper_never_gets_an_answer,
        the_status_names_every_protection_and_whether_it_holds,
        the_calls_of_every_front_are_recorded,
        the_document_describes_what_is_served,
        output_is_followed_until_the_task_ends,
    ]
}

fn a_task_is_made_watched_and_stopped_over_http() {
    let harness = Harness::start();
    let task = harness.post(
        "/v1/tasks",
        &json!({"cmd": "echo hi; sleep 1000", "wait_seconds": 0}),
    );
    let id = task["id"].as_str().unwrap();
    assert_eq!(harness.get(&format!("/v1/tasks/{id}"))["status"], "running");
    assert_eq!(harness.get("/v1/tasks")["items"][0]["id"], id);
    assert_eq!(harness.get(&format!("/v1/units/{id}"))["kind"], "task");
    let stopped = harness.post(&format!("/v1/tasks/{id}/stop"), &json!({}));
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    let again = harness.post(&format!("/v1/tasks/{id}/restart"), &json!({}));
    assert_eq!(again["status"], "running", "{again}");
    harness.post(
        &format!("/v1/tasks/{id}/signal"),
        &json!({"signal": "SIGKILL"}),
    );
    let ended = harness.get(&format!("/v1/tasks/{id}?wait=30"));
    assert_eq!(ended["signal"], "SIGKILL", "{ended}");
}

fn every_wrong_request_is_refused_in_the_same_form() {
    let harness = Harness::start();
    let cases: &[(&str, &str, Option<&str>, u16)] = &[
        ("GET", "/v1/nothing", None, 404),
        ("GET", "/v1/tasks/zzzzzzzz", None, 404),
        ("GET", "/v1/tasks/..%2f..%2fetc", None, 404),
        ("GET", "/v1/tasks?limit=-1", None, 400),
        ("GET", "/v1/tasks?lmit=1", None, 400),
        ("GET", "/v1/tasks/zzzzzzzz?wait=-5", None, 400),
        ("POST", "/v1/tasks", Some("{"), 400),
        ("POST", "/v1/tasks", Some("[]"), 400),
        ("POST", "/v1/tasks", Some("{}"), 400),
        ("POST", "/v1/tasks", Some(r#"{"cmd":5}"#), 400),
        ("POST", "/v1/tasks", Some(r#"{"cmd":"true","x":1}"#), 400),
        ("DELETE", "/v1/status", None, 405),
    ];
    for (method, path, body, status) in cases {
        let reply = harness.http(method, path, *body);
        let got = if reply.status == 422 {
            400
        } else {
            reply.status
        };
        assert_eq!(got, *status, "{method} {path} {body:?}: {reply:?}");
        let error = &reply.json()["error"];
        assert!(
            error["code"].is_string() && error["message"].is_string(),
            "{method} {path}: {reply:?}"
        );
        assert!(
            error["retryable"].is_boolean(),
            "{method} {path}: {reply:?}"
        );
    }
    let huge = format!("{{\"cmd\":\"{}\"}}", "x".repeat(8 << 20));
    assert_eq!(harness.http("POST", "/v1/tasks", Some(&huge)).status, 413);
    assert_eq!(harness.get("/v1/tasks")["items"], json!([]));
}

/// Reads events until one satisfies `is_last`; gives ids and bodies.
fn events(
    harness: &Harness,
    after: Option<&str>,
    mut is_last: impl FnMut(&Value) -> bool,
) -> Vec<(String, Value)> {
    let mut stream =
        std::os::unix::net::UnixStream::connect(harness.runtime().join("control.sock")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let resume = after.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
    write!(
        stream,
        "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n{resume}\r\n"
    )
    .unwrap();
    let mut reader = BufReader::new(stream);
    assert_eq!(http::read_head(&mut reader).0, 200);
    let (mut seen, mut id) = (Vec::new(), String::new());
    if after.is_none() {
        harness.post("/v1/tasks", &json!({"cmd": "true", "wait_seconds": 30}));
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(text) = line.strip_prefix("id:") {
            text.trim().clone_into(&mut id);
        } else if let Some(text) = line.strip_prefix("data:") {
            let event: Value = serde_json::from_str(text.trim()).unwrap();
            seen.push((id.clone(), event));
            if is_last(&seen.last().unwrap().1) {
                return seen;
            }
        }
    }
}

fn events_resume_where_a_reader_left_off() {
    let harness = Harness::start();
    let all = events(&harness, None, |event| event["event"] == "tool_result");
    let names: Vec<_> = all
        .iter()
        .map(|(_, event)| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(names.first(), Some(&"tool_call"), "{names:?}");
    assert!(names.contains(&"unit_changed"), "{names:?}");
    let last = all.last().unwrap().0.clone();
    let resumed = events(&harness, Some(&all[0].0), |event| {
        event["event"] == "tool_result"
    });
    assert_eq!(resumed.last().unwrap().0, last);
    assert_eq!(resumed.len(), all.len() - 1, "{resumed:?}");
    let unknown = events(&harness, Some("0000-1"), |event| {
        event["event"] == "dropped"
    });
    assert_eq!(unknown.len(), 1);
}

fn a_process_under_the_keeper_never_gets_an_answer() {
    let harness = Harness::start();
    let ctl = harness_tests::binaries::program("harnessctl");
    let cmd = format!(
        "{} --runtime-dir {} --json status",
        ctl.display(),
        harness.runtime().display()
    );
    let status = harness.post("/v1/tasks", &json!({"cmd": cmd, "wait_seconds": 30}));
    assert_ne!(status["exit_code"], 0, "{status}");
    assert!(status.to_string().contains("denied"), "{status}");
    // A double fork does not change who it is.
    let cmd = format!(
        "setsid sh -c '({cmd} > answer 2>&1; echo end >> answer) &' ; while ! grep -q end answer 2>/dev/null; do sleep 0.01; done; cat answer"
    );
    let status = harness.post("/v1/tasks", &json!({"cmd": cmd, "wait_seconds": 30}));
    assert!(
        status["stdout"]["tail"]
            .as_str()
            .unwrap()
            .contains("denied"),
        "{status}"
    );
}

fn the_status_names_every_protection_and_whether_it_holds() {
    let harness = Harness::start();
    let status = harness.get("/v1/status");
    assert_eq!(status["agent"], "test");
    assert_eq!(status["pid"], harness.daemon_pid());
    assert_eq!(status["keeper"]["connected"], true);
    let protections = status["enforcement"].as_array().unwrap();
    for name in [
        "cgroup",
        "memory_max",
        "tasks_max",
        "cpu_quota",
        "signal_scope",
    ] {
        let found = protections
            .iter()
            .find(|protection| protection["name"] == name);
        let found = found.unwrap_or_else(|| panic!("{name} is not in {protections:?}"));
        assert!(!found["detail"].as_str().unwrap().is_empty(), "{found}");
    }
}

fn the_calls_of_every_front_are_recorded() {
    let harness = Harness::start();
    harness.post(
        "/v1/tasks",
        &json!({"cmd": "echo http", "wait_seconds": 30}),
    );
    harness
        .mcp(Some("bash"))
        .ok("run", &json!({"cmd": "echo mcp"}));
    harness.mcp(Some("bash")).call("run", &json!({"cmd": 5}));
    let calls = harness.get("/v1/calls");
    let seen: Vec<_> = calls["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (call["front"].clone(), call["state"].clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (json!("mcp"), json!("refused")),
            (json!("mcp"), json!("ok")),
            (json!("http"), json!("ok"))
        ],
        "{calls}"
    );
    assert_eq!(calls["items"][0]["code"], "invalid_input");
    assert!(calls["items"][1]["duration_usec"].as_u64().unwrap() > 0);
}

fn the_document_describes_what_is_served() {
    let harness = Harness::start();
    let document = harness.get("/v1/openapi.json");
    assert!(
        document["openapi"].as_str().unwrap().starts_with("3.1"),
        "{document}"
    );
    for (path, operations) in document["paths"].as_object().unwrap() {
        if operations.get("get").is_some() && !path.contains('{') && !path.contains("events") {
            let reply = harness.http("GET", path, None);
            assert_eq!(reply.status, 200, "{path}: {reply:?}");
        }
    }
}

fn output_is_followed_until_the_task_ends() {
    let harness = Harness::start();
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let task = harness.post(
        "/v1/tasks",
        &json!({"cmd": "echo one; read x < gate; echo two", "wait_seconds": 0}),
    );
    let mut ctl = command::command(harness_tests::binaries::program("harnessctl"));
    ctl.arg("--runtime-dir").arg(harness.runtime()).args([
        "output",
        "--follow",
        task["id"].as_str().unwrap(),
    ]);
    let follower = std::thread::spawn(move || command::run(ctl, b"", PATIENCE));
    std::fs::write(&gate, "go\n").unwrap();
    let output = follower.join().unwrap();
    assert_eq!(output.stdout, "one\ntwo\n", "{output:?}");
}

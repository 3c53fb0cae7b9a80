//! Secrets of the daemon's do not stay anywhere.

use std::path::Path;

use harness_tests::{event, harness::Harness, harness::PATIENCE, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_withheld_value_is_in_no_record_no_event_and_no_trace,
        credentials_and_tokens_are_secrets_too,
        a_secret_of_a_question_is_not_on_its_card,
        a_task_that_held_a_secret_runs_and_is_not_run_again_from_the_record,
        what_is_short_or_not_withheld_stays_as_it_is,
    ]
}

const SECRET: &str = "hunter2-hunter2-hunter2";
const CREDENTIAL: &str = "correct-horse-battery";

/// A harness whose daemon has a secret in its environment and another among its credentials.
fn start(config: &str) -> Harness {
    let mut harness = Harness::prepared(config);
    std::fs::create_dir(harness.path("credentials")).unwrap();
    std::fs::write(
        harness.path("credentials/github"),
        format!("{CREDENTIAL}\n"),
    )
    .unwrap();
    let mut daemon = harness.daemon_command();
    daemon
        .env("DEPLOY_TOKEN", SECRET)
        .env("TINY_KEY", "short")
        .env("HARMLESS", "a-harmless-value")
        .env("CREDENTIALS_DIRECTORY", harness.path("credentials"));
    harness.start_with(daemon);
    harness
}

/// Files below a directory that hold the bytes.
fn holding(directory: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, secret));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            if bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn a_withheld_value_is_in_no_record_no_event_and_no_trace() {
    let mut harness = start("trace = true\n[tool.shell]\nmode = \"allow\"\n");
    let mut events = harness.events();
    let mut session = harness.mcp(None);
    let mut seen = Vec::new();
    // As input, as a name, in a refusal's preview, as a result's preview.
    session.ok(
        "bash__run",
        &json!({"cmd": format!(": {SECRET}"), "name": SECRET, "wait_seconds": 30}),
    );
    session.call("bash__run", &json!({"cmd": 5, (SECRET): 1}));
    session.call(
        "bash__run",
        &json!({"cmd": "true", "cwd": format!("/{SECRET}")}),
    );
    let result = session.ok(
        "shell__shell",
        &json!({"cmd": format!("printf %s {SECRET}")}),
    );
    assert_eq!(result["stdout"], SECRET, "what runs is what was asked for");
    // As a wake's body: the output file is the task's own, and goes before the search.
    session.ok(
        "bash__run",
        &json!({"cmd": format!("echo {SECRET}"), "wait_seconds": 0}),
    );
    seen.push(events.next("wake"));
    harness.ctl(&["call", "list"]).ok();
    seen.push(events.find(|event| event["tool"] == "list"));
    assert!(!format!("{seen:?}").contains(SECRET), "{seen:?}");
    assert_eq!(seen[0]["body"], "[redacted DEPLOY_TOKEN]", "{seen:?}");
    let calls = harness.get("/v1/calls").to_string();
    let units = harness.get("/v1/units").to_string();
    let wakes = harness.get("/v1/wakes").to_string();
    for text in [&calls, &units, &wakes] {
        assert!(!text.contains(SECRET), "{text}");
        assert!(text.contains("[redacted DEPLOY_TOKEN]"), "{text}");
    }
    assert_eq!(harness.stop_daemon(), 0);
    std::fs::remove_dir_all(harness.state().join("bash-tasks")).unwrap();
    assert_eq!(holding(&harness.state(), SECRET), Vec::<String>::new());
    let trace = std::fs::read_to_string(harness.state().join("trace.ndjson")).unwrap();
    assert!(trace.contains("[redacted DEPLOY_TOKEN]"), "{trace}");
    assert!(!harness.log().contains(SECRET), "{}", harness.log());
}

fn credentials_and_tokens_are_secrets_too() {
    let harness = start("");
    let mut session = harness.mcp(Some("bash"));
    session.ok(
        "run",
        &json!({"cmd": format!(": {CREDENTIAL}"), "wait_seconds": 30}),
    );
    let calls = harness.get("/v1/calls").to_string();
    assert!(
        calls.contains("[redacted github]") && !calls.contains(CREDENTIAL),
        "{calls}"
    );
    let (harness, _port) = crate::mcp::http::start();
    let token = crate::mcp::http::TOKEN;
    harness.mcp(Some("bash")).ok(
        "run",
        &json!({"cmd": format!(": {token}"), "wait_seconds": 30}),
    );
    let calls = harness.get("/v1/calls").to_string();
    assert!(
        calls.contains("[redacted the token of [mcp_http]]") && !calls.contains(token),
        "{calls}"
    );
}

fn a_secret_of_a_question_is_not_on_its_card() {
    let harness = start("[tool.run]\nmode = \"ask\"\n[approval]\nhold_sec = 0\n");
    let mut session = harness.mcp(Some("bash"));
    let input = json!({"cmd": format!("echo {SECRET} > out"), "wait_seconds": 30});
    let refused = session.call("run", &input);
    assert!(text(&refused).contains("approval"), "{refused}");
    let card = harness.get("/v1/approvals")[0].clone();
    assert!(!card.to_string().contains(SECRET), "{card}");
    assert_eq!(card["input"]["cmd"], "echo [redacted DEPLOY_TOKEN] > out");
    harness.ctl(&["approve", &card["id"].to_string()]).ok();
    session.ok("run", &input);
    let out = std::fs::read_to_string(harness.workspace().join("out")).unwrap();
    assert_eq!(
        out,
        format!("{SECRET}\n"),
        "the digest is that of the call itself"
    );
    // A look-alike of the card is another call.
    let refused = session.call(
        "run",
        &json!({"cmd": card["input"]["cmd"], "wait_seconds": 30}),
    );
    assert_eq!(
        refused["structuredContent"]["error"]["code"], "needs_approval",
        "{refused}"
    );
}

fn a_task_that_held_a_secret_runs_and_is_not_run_again_from_the_record() {
    let mut harness = start("");
    let mut session = harness.mcp(Some("bash"));
    let unit = json!({"restart": "on-failure", "restart_sec": 0.05, "start_limit_burst": 3});
    let cmd = format!("echo {SECRET} >> out; exit 1");
    let status = session.ok(
        "run",
        &json!({"cmd": cmd, "wait_seconds": 30, "unit": unit}),
    );
    assert_eq!(status["active_state"], "failed", "{status}");
    let out = std::fs::read_to_string(harness.workspace().join("out")).unwrap();
    assert_eq!(
        out.lines().filter(|line| *line == SECRET).count(),
        3,
        "{out}"
    );
    let again = session.call("restart", &json!({"id": status["id"]}));
    assert!(text(&again).contains("held a secret"), "{again}");
    // One that runs while the daemon is restarted goes on, and is not restarted by itself afterwards.
    let cmd = format!("echo $$ > pid; : {SECRET}; exec sleep 1000");
    let id = session.ok(
        "run",
        &json!({"cmd": cmd, "wait_seconds": 0, "unit": {"restart": "always"}}),
    )["id"]
        .clone();
    event::file(&harness.workspace().join("pid"), PATIENCE, |text| {
        text.ends_with('\n')
    });
    harness.kill_daemon();
    harness.start_daemon();
    let mut session = harness.mcp(Some("bash"));
    session.ok("signal", &json!({"id": id, "signal": "SIGKILL"}));
    let status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
    assert_eq!(
        (&status["status"], &status["restarts"]),
        (&json!("done"), &json!(0)),
        "{status}"
    );
}

fn what_is_short_or_not_withheld_stays_as_it_is() {
    let harness = start("");
    let mut session = harness.mcp(Some("bash"));
    session.ok(
        "run",
        &json!({"cmd": ": short a-harmless-value", "wait_seconds": 30}),
    );
    let calls = harness.get("/v1/calls").to_string();
    assert!(calls.contains(": short a-harmless-value"), "{calls}");
}

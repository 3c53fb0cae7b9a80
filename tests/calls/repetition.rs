//! The loop breaker, on every front.

use harness_tests::{harness::Harness, http::Connection, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        the_fourth_identical_call_is_refused_over_mcp_and_another_one_resets,
        a_session_over_http_is_counted_too,
        calls_of_a_person_on_one_connection_are_counted_too,
        a_failing_and_a_refused_call_count,
        the_number_is_configured_and_zero_switches_it_off,
        a_refused_repetition_runs_nothing_and_is_recorded,
    ]
}

fn own_code(result: &Value) -> &Value {
    &result["structuredContent"]["error"]["details"]["code"]
}

fn the_fourth_identical_call_is_refused_over_mcp_and_another_one_resets() {
    let harness = Harness::start();
    let mut session = harness.mcp(None);
    let input = json!({"limit": 5});
    for round in 0..2 {
        for _ in 0..3 {
            session.ok("bash__list", &input);
        }
        for _ in 0..2 {
            let result = session.call("bash__list", &input);
            assert_eq!(own_code(&result), "ELOOP", "{result}");
            assert_eq!(result["structuredContent"]["error"]["code"], "call_limit");
            assert!(text(&result).starts_with("ELOOP"), "{result}");
        }
        session.ok("bash__list", &json!({"limit": 6 + round}));
    }
    // Another session has a count of its own.
    harness.mcp(None).ok("bash__list", &json!({"limit": 7}));
}

fn a_session_over_http_is_counted_too() {
    let (_harness, port) = crate::mcp::http::start();
    let path = "/mcp/group/bash";
    let (one, other) = (
        crate::mcp::http::session(port, path),
        crate::mcp::http::session(port, path),
    );
    let list = |session: &str| crate::mcp::http::call(port, path, session, "list", &json!({}));
    for _ in 0..3 {
        let result = list(&one);
        assert_eq!(own_code(&result), &Value::Null, "{result}");
    }
    let result = list(&one);
    assert_eq!(own_code(&result), "ELOOP", "{result}");
    let result = list(&other);
    assert_eq!(own_code(&result), &Value::Null, "{result}");
}

fn calls_of_a_person_on_one_connection_are_counted_too() {
    let harness = Harness::start();
    let socket = harness.runtime().join("control.sock");
    let mut connection = Connection::open(&socket);
    // Both names are one tool, and the order of arguments does not matter.
    for path in [
        "/v1/tools/list/call",
        "/v1/tools/bash__list/call",
        "/v1/tools/list/call",
    ] {
        assert_eq!(connection.post(path, "{}").status, 200);
    }
    let reply = connection.post("/v1/tools/list/call", "");
    assert_eq!(reply.status, 429, "{reply:?}");
    assert_eq!(reply.json()["error"]["details"]["code"], "ELOOP");
    assert_eq!(
        Connection::open(&socket)
            .post("/v1/tools/list/call", "{}")
            .status,
        200
    );
}

fn a_failing_and_a_refused_call_count() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    for input in [json!({"id": "zzzzzzzz"}), json!({"wrong": 1})] {
        for _ in 0..3 {
            let result = session.call("status", &input);
            assert_eq!(own_code(&result), &Value::Null, "{result}");
        }
        let result = session.call("status", &input);
        assert_eq!(own_code(&result), "ELOOP", "{result}");
    }
}

fn the_number_is_configured_and_zero_switches_it_off() {
    let harness = Harness::with_config("[limits]\nidentical_calls = 1\n");
    let mut session = harness.mcp(Some("bash"));
    session.ok("list", &json!({}));
    assert_eq!(own_code(&session.call("list", &json!({}))), "ELOOP");
    harness.write_config("[limits]\nidentical_calls = 0\n");
    harness.ctl(&["reload"]).ok();
    for _ in 0..20 {
        session.ok("list", &json!({}));
    }
}

fn a_refused_repetition_runs_nothing_and_is_recorded() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    for _ in 0..6 {
        session.call("run", &json!({"cmd": "echo x >> ran", "wait_seconds": 30}));
    }
    let ran = std::fs::read_to_string(harness.workspace().join("ran")).unwrap();
    assert_eq!(ran, "x\nx\nx\n");
    let calls = harness.get("/v1/calls");
    let calls = calls["items"].as_array().unwrap();
    assert_eq!(calls.len(), 6);
    for call in &calls[..3] {
        assert_eq!(
            (&call["state"], &call["code"]),
            (&json!("refused"), &json!("call_limit")),
            "{call}"
        );
    }
}

//! Bad input: a clear error, and the harness is not even asked.

use harness_model::{ErrorCode, Refusal, ToolOutput};
use serde_json::{Value, json};

use crate::fake::{Served, refusal};

#[tokio::test]
async fn an_unknown_path_names_the_nearest_and_a_wrong_method_the_right_one() {
    let served = Served::start(true);
    let message = refusal(
        &served.ask("GET /v1/taks", b"").await,
        404,
        "unknown_command",
    );
    assert!(message.contains("did you mean /v1/tasks?"), "{message}");
    let answer = served.ask("DELETE /v1/tasks", b"").await;
    refusal(&answer, 405, "invalid_input");
    assert!(
        answer.0.to_lowercase().contains("\r\nallow: get,head,post"),
        "{}",
        answer.0
    );
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused_with_its_position() {
    let served = Served::start(true);
    for (body, part) in [
        (&b"{\"cmd\": \"x\",\n oops}"[..], "line 2 column 2"),
        (b"", "line 1 column 0"),
        (b"[1]", "expected a map"),
        (b"{\"cmd\": \"\xff\"}", "line 1 column"),
        (b"{\"cmd\": \"a\0\"}", "control character"),
        (b"{} {}", "trailing"),
    ] {
        let message = refusal(
            &served.ask("POST /v1/tasks", body).await,
            400,
            "invalid_input",
        );
        assert!(message.contains(part), "{message}");
    }
    let deep = "[".repeat(100_000);
    refusal(
        &served.ask("POST /v1/wakes/ack", deep.as_bytes()).await,
        400,
        "invalid_input",
    );
    assert!(served.control.asked().is_empty());
}

#[tokio::test]
async fn a_body_beyond_two_mebibytes_is_413_announced_or_not() {
    let served = Served::start(true);
    let body = vec![b' '; (2 << 20) + 1];
    refusal(
        &served.ask("POST /v1/tasks", &body).await,
        413,
        "invalid_input",
    );
    let request = "POST /v1/tasks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut chunked = request.as_bytes().to_vec();
    chunked.extend(format!("{:x}\r\n", body.len()).bytes());
    chunked.extend(&body);
    chunked.extend(b"\r\n0\r\n\r\n");
    let mut stream = tokio::net::UnixStream::connect(served.socket())
        .await
        .unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, &chunked)
        .await
        .ok();
    refusal(
        &crate::fake::answer(&mut stream).await,
        413,
        "invalid_input",
    );
    // Just as large is fine: it is the JSON that is wrong.
    refusal(
        &served.ask("POST /v1/tasks", &body[1..]).await,
        400,
        "invalid_input",
    );
}

#[tokio::test]
async fn parameters_that_are_unknown_twice_or_out_of_range_are_refused() {
    let served = Served::start(true);
    for (request, part) in [
        ("GET /v1/tasks?limti=5", "limti"),
        ("GET /v1/status?x", "x"),
        ("GET /v1/tasks?limit=5&limit=6", "duplicate"),
        ("GET /v1/tasks?limit=0", "expected 1 to 1000"),
        ("GET /v1/tasks?limit=-1", "limit"),
        ("GET /v1/tasks?state=dreaming", "timed_out"),
        ("GET /v1/tasks/abc?wait=-1", "expected 0 or more"),
        ("GET /v1/tasks/abc?wait=nan", "expected 0 or more"),
        ("GET /v1/tasks/abc/output?follow=maybe", "expected 1 or 0"),
        (
            "GET /v1/tasks/abc/output?follow=1&limit=9",
            "exclude each other",
        ),
        ("GET /v1/tasks/abc/output?limit=1", "character"),
        ("GET /v1/tasks/abc/output?offset=-1", "offset"),
        ("GET /v1/tasks/abc/output?stream=stdin", "stdout"),
        ("POST /v1/wakes/recv", "wait"),
    ] {
        let body: &[u8] = if request.starts_with("POST") {
            br#"{"wait_seconds":-0.5}"#
        } else {
            b""
        };
        let message = refusal(&served.ask(request, body).await, 400, "invalid_input");
        assert!(message.contains(part), "{request}: {message}");
    }
    let message = refusal(
        &served
            .ask("POST /v1/tasks/abc/signal", br#"{"signal":"SIGNOPE"}"#)
            .await,
        400,
        "invalid_input",
    );
    assert!(message.contains("SIGTERM"), "{message}");
    refusal(
        &served
            .ask("POST /v1/tasks/abc/stop", b"{\"force\":true}")
            .await,
        400,
        "invalid_input",
    );
    assert!(served.control.asked().is_empty());
}

#[tokio::test]
async fn an_id_that_never_was_or_never_can_be_is_404() {
    let served = Served::start(true);
    for id in [
        "never-was",
        "..%2F..%2Fetc",
        "UPPER",
        "a%00",
        "%FF",
        &"a".repeat(65),
    ] {
        refusal(
            &served.ask(&format!("GET /v1/tasks/{id}"), b"").await,
            404,
            "unknown_command",
        );
    }
}

#[tokio::test]
async fn each_code_of_the_gate_has_its_status() {
    let served = Served::start(true);
    for (code, status) in [
        (ErrorCode::UnknownCommand, 404),
        (ErrorCode::InvalidInput, 400),
        (ErrorCode::ToolError, 422),
        (ErrorCode::Denied, 403),
        (ErrorCode::NeedsApproval, 409),
        (ErrorCode::Stopped, 409),
        (ErrorCode::ConnectionRequired, 424),
        (ErrorCode::CallLimit, 429),
        (ErrorCode::Unavailable, 503),
        (ErrorCode::OutcomeUnknown, 504),
    ] {
        served.control.next_outcome(Err(
            Refusal::new(code, "no").with_details(json!({"approval": "x"}))
        ));
        let answer = served.ask("POST /v1/tasks", b"{}").await;
        assert_eq!(refusal(&answer, status, code.as_str()), "no");
        let body: Value = serde_json::from_str(&answer.1).unwrap();
        assert_eq!(body["error"]["details"]["approval"], "x");
    }
}

#[tokio::test]
async fn a_tool_that_ran_and_failed_is_an_error_and_no_task() {
    let served = Served::start(true);
    let mut output = ToolOutput::new("no such directory", json!({"code": "ENOENT"}));
    output.is_error = true;
    served.control.next_outcome(Ok(output));
    let answer = served.ask("POST /v1/tasks", b"{\"cmd\":\"x\"}").await;
    assert_eq!(refusal(&answer, 422, "tool_error"), "no such directory");
    served
        .control
        .next_outcome(Ok(ToolOutput::new("started", json!({}))));
    refusal(
        &served.ask("POST /v1/tasks", b"{\"cmd\":\"x\"}").await,
        504,
        "outcome_unknown",
    );
}

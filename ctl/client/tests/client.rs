//! The client against a server that misbehaves on demand.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod support;

use std::{os::unix::net::UnixListener, sync::Mutex, time::Duration};

use harness_client::{Client, Error};
use harness_model::{ErrorCode, RunInput, Signal, TaskState, UnitId};
use serde_json::json;
use support::{FakeHarness, events, gate, output_frame, refuse, reply, task};

fn id(text: &str) -> UnitId {
    text.parse().unwrap()
}

fn client(harness: &FakeHarness) -> Client {
    Client::at(harness.socket())
}

#[tokio::test]
async fn a_task_is_started_with_what_was_set_and_nothing_else() {
    let harness = FakeHarness::start(|_, stream| reply(stream, 201, &task("abc", "running", None)));
    let input = RunInput {
        cmd: "make".into(),
        timeout_secs: Some(60.0),
        ..RunInput::default()
    };
    let status = client(&harness).run(&input).await.unwrap();
    assert_eq!((status.id, status.status), (id("abc"), TaskState::Running));
    let requests = harness.requests();
    assert_eq!(requests[0].line, "POST /v1/tasks");
    assert_eq!(
        requests[0].json(),
        json!({"cmd": "make", "timeout_secs": 60})
    );
}

#[tokio::test]
async fn a_refusal_keeps_its_code_and_message() {
    let harness =
        FakeHarness::start(|_, stream| refuse(stream, 404, "unknown_command", "no task \"abc\""));
    let error = client(&harness)
        .signal(&id("abc"), Signal::TERM)
        .await
        .unwrap_err();
    let Error::Refused(refusal) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (ErrorCode::UnknownCommand, "no task \"abc\"")
    );
    assert_eq!(harness.requests()[0].json(), json!({"signal": "SIGTERM"}));
}

#[tokio::test]
async fn something_else_on_the_socket_is_told_apart() {
    let harness = FakeHarness::start(|request, stream| match request.line.as_str() {
        "GET /v1/status" => reply(stream, 200, &json!({"agent": 1})),
        _ => reply(stream, 500, &json!("oops")),
    });
    let client = client(&harness);
    assert!(matches!(client.status().await, Err(Error::Decode { .. })));
    assert!(matches!(
        client.reload().await,
        Err(Error::Unexpected { status: 500, .. })
    ));
}

#[tokio::test]
async fn a_connection_that_breaks_off_is_an_error() {
    let harness = FakeHarness::start(|_, stream| {
        use std::io::Write as _;
        stream
            .write_all(b"HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{\"agent\"")
            .unwrap();
    });
    assert!(matches!(
        client(&harness).status().await,
        Err(Error::Broken { .. })
    ));
}

#[tokio::test]
async fn no_socket_and_a_stale_one_say_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("control.sock");
    let error = Client::at(&socket).status().await.unwrap_err();
    assert!(matches!(error, Error::NotRunning { .. }) && error.is_unreachable());
    assert!(error.to_string().contains("harnessd --agent"), "{error}");
    drop(UnixListener::bind(&socket).unwrap());
    let error = Client::at(&socket).status().await.unwrap_err();
    assert!(matches!(error, Error::Stale { .. }) && error.is_unreachable());
}

#[tokio::test]
async fn a_wait_goes_on_over_a_break_and_ends_with_the_task() {
    let answers = Mutex::new(0);
    let harness = FakeHarness::start(move |_, stream| {
        let mut count = answers.lock().unwrap();
        *count += 1;
        match *count {
            1 => reply(stream, 200, &task("abc", "running", None)),
            2 => {}
            _ => reply(stream, 200, &task("abc", "done", Some(7))),
        }
    });
    let status = client(&harness).task_end(&id("abc"), None).await.unwrap();
    assert_eq!(status.exit_code, Some(7));
    assert_eq!(harness.lines(), vec!["GET /v1/tasks/abc?wait=300"; 3]);
}

#[tokio::test]
async fn a_wait_ends_at_its_limit_with_the_task_still_running() {
    let harness = FakeHarness::start(|_, stream| reply(stream, 200, &task("abc", "running", None)));
    let status = client(&harness)
        .task_end(&id("abc"), Some(Duration::ZERO))
        .await
        .unwrap();
    assert_eq!(status.status, TaskState::Running);
}

#[tokio::test]
async fn events_are_resumed_after_the_last_one_seen() {
    let frame = |seq: u64| format!("id: boot-{seq}\nevent: news\ndata: {{\"seq\":{seq}}}\n\n");
    let harness =
        FakeHarness::start(
            move |request, stream| match request.header("last-event-id") {
                None => events(
                    stream,
                    &format!("{}{}id: boot-3\nevent: news\nda", frame(1), frame(2)),
                ),
                Some("boot-2") => events(stream, &frame(3)),
                Some("boot-3") => refuse(stream, 403, "denied", "enough"),
                Some(other) => panic!("{other}"),
            },
        );
    let mut events = client(&harness).events(None).await.unwrap();
    for seq in 1..=3 {
        let message = events.next().await.unwrap();
        assert_eq!(message.id, Some(format!("boot-{seq}")));
        assert_eq!(
            (message.name.as_str(), &message.data),
            ("news", &json!({"seq": seq}))
        );
        assert!(message.event().is_none(), "a kind that is not known here");
    }
    assert!(matches!(events.next().await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn output_is_followed_over_a_break_without_a_gap_or_a_repeat() {
    let harness = FakeHarness::start(|request, stream| match request.header("last-event-id") {
        None => events(stream, &output_frame("abc", 0, "one ", false)),
        Some("4") => events(
            stream,
            &(output_frame("abc", 4, "two", false) + &output_frame("abc", 7, "", true)),
        ),
        Some(other) => panic!("{other}"),
    });
    let mut follow = client(&harness)
        .follow(&id("abc"), harness_model::Stream::Stdout, 0)
        .await
        .unwrap();
    let mut text = String::new();
    while let Some(chunk) = follow.next().await.unwrap() {
        text += &chunk.text;
    }
    assert_eq!(text, "one two");
    assert_eq!(
        harness.lines()[0],
        "GET /v1/tasks/abc/output?follow=1&offset=0&stream=stdout"
    );
}

#[tokio::test]
async fn the_first_piece_arrives_while_the_task_still_runs() {
    let (open, wait) = gate();
    let harness = FakeHarness::start(move |_, stream| {
        use std::io::Write as _;
        events(stream, &output_frame("abc", 0, "early", false));
        wait.lock().unwrap().recv().unwrap();
        stream
            .write_all(output_frame("abc", 5, "", true).as_bytes())
            .unwrap();
    });
    let mut follow = client(&harness)
        .follow(&id("abc"), harness_model::Stream::Stdout, 0)
        .await
        .unwrap();
    assert_eq!(follow.next().await.unwrap().unwrap().text, "early");
    open.send(()).unwrap();
    assert!(follow.next().await.unwrap().unwrap().eof);
    assert!(follow.next().await.unwrap().is_none());
}

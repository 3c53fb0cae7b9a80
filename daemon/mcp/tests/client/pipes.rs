//! Programs on pipes: greetings, answers, noise and ends.

use std::{
    sync::{Arc, Mutex},
    task::Poll,
};

use harness_mcp::client::{Cause, Client, ClientError, ConnectError, ServerEvent, ToolCall};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::script::{LIMIT, call, connected, connecting};

#[tokio::test]
async fn a_program_of_any_age_is_greeted_in_the_version_it_offers() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let (client, mut program) = connecting();
        let hello = program.expect("initialize").await;
        assert_eq!(hello["params"]["protocolVersion"], "2025-11-25");
        assert_eq!(hello["params"]["clientInfo"]["name"], "harnessd");
        let info = json!({"name": "p", "version": "1", "icons": [{"src": "data:,"}]});
        let result = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": info, "instructions": "i"});
        program.answer(&hello, result).await;
        program.expect("notifications/initialized").await;
        let client = client.await.unwrap().unwrap();
        assert_eq!(client.hello().protocol, version);
        assert_eq!(client.hello().server_info, Some(info));
        assert_eq!(client.hello().instructions.as_deref(), Some("i"));
    }
}

#[tokio::test]
async fn a_program_that_knows_no_initialize_is_asked_without_a_session() {
    let (client, mut program) = connecting();
    let hello = program.expect("initialize").await;
    program.refuse(&hello, -32601, "no such method").await;
    let hello = program.expect("server/discover").await;
    let meta = &hello["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "p", "version": "2"}}});
    program.answer(&hello, result).await;
    let client = client.await.unwrap().unwrap();
    assert!(client.hello().stateless);
    assert_eq!(client.hello().server_info.as_ref().unwrap()["version"], "2");
    let listen = program.expect("subscriptions/listen").await;
    assert_eq!(listen["params"]["notifications"]["toolsListChanged"], true);
    let mut events = client.events();
    program
        .say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
        .await;
    let event = timeout(LIMIT, events.recv()).await.unwrap().unwrap();
    assert!(
        matches!(event, ServerEvent::Notification { method, .. } if method == "notifications/tools/list_changed")
    );
    let answered = tokio::spawn(async move { client.call_tool(call("t")).await.map(|_| ()) });
    let asked = program.expect("tools/call").await;
    assert!(asked["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object());
    program.answer(&asked, json!({"content": []})).await;
    answered.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_version_that_is_unknown_is_a_lasting_fault_and_a_refusal_is_shown() {
    let (client, mut program) = connecting();
    let hello = program.expect("initialize").await;
    program
        .answer(
            &hello,
            json!({"protocolVersion": "1999-01-01", "capabilities": {}}),
        )
        .await;
    let error = client.await.unwrap().err().unwrap();
    assert!(
        error.is_permanent() && error.to_string().contains("1999-01-01"),
        "{error}"
    );

    let (client, mut program) = connecting();
    for _ in 0..2 {
        let hello = program.next().await.unwrap();
        program.refuse(&hello, -32000, "not today").await;
    }
    let error = client.await.unwrap().err().unwrap();
    assert!(
        !error.is_permanent() && error.to_string().contains("not today"),
        "{error}"
    );
}

#[tokio::test]
async fn a_program_that_ends_before_it_says_hello_is_an_error_at_once() {
    let (client, mut program) = connecting();
    program.expect("initialize").await;
    program.hang_up();
    let error = timeout(LIMIT, client)
        .await
        .unwrap()
        .unwrap()
        .err()
        .unwrap();
    assert!(
        matches!(
            error,
            ConnectError::Client(ClientError::Lost(Cause::Closed))
        ),
        "{error}"
    );
}

#[tokio::test]
async fn results_and_errors_come_back_as_they_are() {
    let (client, mut program) = connected().await;
    let result = json!({
        "content": [{"type": "text", "text": "t", "annotations": {"priority": 0.5}, "_meta": {"a": 1}}, {"type": "hologram", "x": [null]}],
        "structuredContent": {"z": 1, "a": [1.0, 2, 1e300]}, "isError": false, "_meta": {"k": {"v": true}}, "later": "kept",
    });
    let (answer, ()) = tokio::join!(client.call_tool(call("t")), async {
        let asked = program.expect("tools/call").await;
        assert_eq!(asked["params"], json!({"name": "t", "arguments": {}}));
        program.answer(&asked, result.clone()).await;
    });
    assert_eq!(answer.unwrap(), result);
    let (answer, ()) = tokio::join!(client.call_tool(call("t")), async {
        let asked = program.expect("tools/call").await;
        program.refuse(&asked, -32602, "bad").await;
    });
    let Err(ClientError::Answered(error)) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(
        (error.code, error.message.as_str(), error.data),
        (-32602, "bad", Some(json!({"why": [1]})))
    );
}

#[tokio::test]
async fn progress_and_meta_belong_to_their_call() {
    let (client, mut program) = connected().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let report = Arc::clone(&seen);
    let meta =
        json!({"trace": "x", "progressToken": "theirs", "io.modelcontextprotocol/clientInfo": {}});
    let called = client.call_tool(ToolCall {
        meta: meta.as_object().cloned(),
        report: Some(Arc::new(move |progress| {
            report.lock().unwrap().push(progress);
        })),
        ..call("t")
    });
    let (answer, ()) = tokio::join!(called, async {
        let asked = program.expect("tools/call").await;
        let token = asked["params"]["_meta"]["progressToken"].clone();
        assert_eq!(
            asked["params"]["_meta"],
            json!({"trace": "x", "progressToken": token})
        );
        for (token, progress) in [(token, 1), (json!(999), 2)] {
            let params =
                json!({"progressToken": token, "progress": progress, "total": 3, "message": "m"});
            program.say(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string()).await;
        }
        program.answer(&asked, json!({})).await;
    });
    answer.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        (seen[0].progress, seen[0].total, seen[0].message.as_deref()),
        (1.0, Some(3.0), Some("m"))
    );
}

/// Pain 25: cancel reaches the server.
#[tokio::test]
async fn a_dropped_call_is_taken_back_at_the_server_and_others_go_on() {
    let (client, mut program) = connected().await;
    let client = Arc::new(client);
    let dropped = tokio::spawn({
        let client = Arc::clone(&client);
        async move { client.call_tool(call("slow")).await.map(|_| ()) }
    });
    let slow = program.expect("tools/call").await;
    dropped.abort();
    let cancelled = program.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], slow["id"]);
    // Its answer was on its way; nobody takes it for another's.
    program.answer(&slow, json!({"late": true})).await;
    let (answer, ()) = tokio::join!(client.call_tool(call("t")), async {
        let asked = program.expect("tools/call").await;
        program.answer(&asked, json!({"own": true})).await;
    });
    assert_eq!(answer.unwrap(), json!({"own": true}));
}

/// Pain 25: noise on stdout is skipped and logged.
#[tokio::test]
async fn noise_is_skipped_and_told_and_a_broken_answer_is_no_endless_wait() {
    let (client, mut program) = connected().await;
    let mut events = client.events();
    let (answer, ()) = tokio::join!(client.call_tool(call("t")), async {
        let asked = program.expect("tools/call").await;
        for noise in [
            "Server listening…",
            "",
            "{\"level\":\"info\"}",
            "\u{1b}[31mred",
            "[1,2]",
        ] {
            program.say(noise).await;
        }
        program.answer(&asked, json!({"own": true})).await;
    });
    assert_eq!(answer.unwrap(), json!({"own": true}));
    assert_eq!(
        events.recv().await.unwrap(),
        ServerEvent::Noise("Server listening…".into())
    );
    let (answer, ()) = tokio::join!(client.call_tool(call("t")), async {
        let asked = program.expect("tools/call").await;
        program
            .say(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"cut":"#,
                asked["id"]
            ))
            .await;
    });
    assert!(
        matches!(answer, Err(ClientError::Unreadable { .. })),
        "{answer:?}"
    );
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_call_alone() {
    let (client, mut program) = connected().await;
    let huge = "x".repeat(17 * 1024 * 1024);
    let (answer, ()) = tokio::join!(client.call_tool(call("t")), async {
        let asked = program.expect("tools/call").await;
        program
            .say(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"t":"{huge}"}}}}"#,
                asked["id"]
            ))
            .await;
    });
    assert!(
        matches!(answer, Err(ClientError::Unreadable { .. })),
        "{answer:?}"
    );
    let (answer, ()) = tokio::join!(client.ping(), async {
        let asked = program.expect("ping").await;
        program.answer(&asked, json!({})).await;
    });
    answer.unwrap();
}

#[tokio::test]
async fn a_flood_without_a_message_ends_the_connection() {
    let (client, mut program) = connected().await;
    let line = "y".repeat(1024 * 1024);
    let flooding = tokio::spawn(async move {
        for _ in 0..80 {
            if program.try_say(&line).await.is_err() {
                break;
            }
        }
        program
    });
    let cause = timeout(LIMIT, client.ended()).await.unwrap();
    assert!(matches!(cause, Cause::Flood), "{cause}");
    drop(client);
    drop(flooding.await.unwrap());
}

#[tokio::test]
async fn calls_in_flight_at_the_end_are_lost_and_later_ones_never_leave() {
    let (client, mut program) = connected().await;
    let (answers, ()) = tokio::join!(
        async { tokio::join!(client.call_tool(call("a")), client.call_tool(call("b"))) },
        async {
            program.expect("tools/call").await;
            program.expect("tools/call").await;
            program.hang_up();
        }
    );
    for answer in [answers.0, answers.1] {
        assert!(
            matches!(answer, Err(ClientError::Lost(Cause::Closed))),
            "{answer:?}"
        );
    }
    let late = client.call_tool(call("c")).await;
    assert!(
        matches!(late, Err(ClientError::NotSent(Cause::Closed))),
        "{late:?}"
    );
    drop(client);
    assert_eq!(program.next().await, None, "nothing was sent after the end");
}

#[tokio::test]
async fn a_program_that_does_not_read_is_not_written_to_without_end() {
    let (client, _program) = connected().await;
    let argument: Value = "z".repeat(1024 * 1024).into();
    let mut waiting = Vec::new();
    for _ in 0..8 {
        let arguments = json!({"a": argument}).as_object().cloned().unwrap();
        let mut call = Box::pin(client.call_tool(ToolCall {
            arguments,
            ..call("t")
        }));
        match futures_util::poll!(&mut call) {
            Poll::Pending => waiting.push(call),
            Poll::Ready(answer) => {
                let congested = matches!(answer, Err(ClientError::NotSent(Cause::Congested)));
                assert!(congested && waiting.len() >= 4, "{answer:?}");
                return;
            }
        }
    }
    panic!("{} calls were taken", waiting.len());
}

#[tokio::test]
async fn a_ping_of_the_programs_is_answered_and_what_it_cannot_ask_is_refused() {
    let (_client, mut program) = connected().await;
    program
        .say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#)
        .await;
    assert_eq!(
        program.next().await.unwrap(),
        json!({"jsonrpc": "2.0", "id": "p", "result": {}})
    );
    program
        .say(r#"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#)
        .await;
    let refused = program.next().await.unwrap();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(5), &json!(-32601))
    );
}

/// Pain 24: pagination is followed, and a looping cursor ends.
#[tokio::test]
async fn pages_are_followed_and_a_circle_of_them_ends() {
    async fn listed(
        client: &Client,
        program: &mut crate::script::Program,
        next: &[Option<&str>],
    ) -> (usize, bool) {
        let (listed, ()) = tokio::join!(client.tools(), async {
            let mut cursor = None;
            for (number, next) in next.iter().enumerate() {
                let asked = program.expect("tools/list").await;
                assert_eq!(
                    asked["params"].get("cursor").and_then(Value::as_str),
                    cursor
                );
                let mut page = json!({"tools": [{"name": format!("t{number}")}]});
                if let Some(next) = next {
                    page["nextCursor"] = (*next).into();
                }
                cursor = *next;
                program.answer(&asked, page).await;
            }
        });
        let (tools, warning) = listed.unwrap();
        (tools.len(), warning.is_some())
    }
    let (client, mut program) = connected().await;
    assert_eq!(
        listed(&client, &mut program, &[Some("a"), Some("b"), None]).await,
        (3, false)
    );
    assert_eq!(
        listed(&client, &mut program, &[Some("a"), Some("b"), Some("a")]).await,
        (3, true)
    );
    assert_eq!(
        listed(&client, &mut program, &[Some("a"), Some("a")]).await,
        (2, true)
    );
    assert_eq!(listed(&client, &mut program, &[Some("")]).await, (1, false));
}

//! What is no message, too much of one, or too many of them.

use std::sync::Arc;

use harness_mcp::{Notice, serve_stream};
use serde_json::{Value, json};

use crate::{
    backend::{Fake, Seen},
    client::{Client, request},
};

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_next_one_is_served() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    for (line, code) in [
        (b"garbage".as_slice(), -32700),
        (b"\xff\xfe\x00", -32700),
        (b"\0", -32700),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xe2\x82\"}",
            -32700,
        ),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (b"[]", -32600),
        (b"42", -32600),
        (br#"{"harness":{"group":"bash"}}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
    ] {
        client.send_line(line).await;
        let answer = client.answer(&Value::Null).await;
        assert_eq!(answer["error"]["code"], code, "{line:?}");
    }
    assert_eq!(
        client.request(1, "ping", json!({})).await["result"],
        json!({})
    );
}

#[tokio::test]
async fn empty_lines_are_ignored_before_and_after_the_harness_line() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    client
        .send_line(b"\n\r\n  \n{\"harness\":{\"group\":\"bash\"}}\n\n \t")
        .await;
    let result = client.initialize("2025-11-25", json!({})).await;
    assert_eq!(result["serverInfo"]["name"], "bash");
}

#[tokio::test]
async fn a_line_beyond_16_mib_is_an_error_and_a_long_one_below_is_not() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let text = "x".repeat(16 * 1024 * 1024);
    let too_long = request(
        1,
        "tools/call",
        json!({"name": "echo", "arguments": {"text": text}}),
    );
    client.send(&too_long).await;
    assert_eq!(client.answer(&Value::Null).await["error"]["code"], -32600);
    client.initialize("2025-11-25", json!({})).await;
    client.send(&too_long).await;
    let answer = client.answer(&Value::Null).await;
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("16 MiB")
    );
    let text = "y".repeat(1024 * 1024);
    let answer = client.call(2, "echo", json!({"text": text})).await;
    assert_eq!(answer["result"]["content"][0]["text"], text);
}

#[tokio::test]
async fn a_request_id_in_use_is_refused_without_taking_the_first_ones_answer() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client
        .send(&request(5, "tools/call", json!({"name": "wait"})))
        .await;
    client.send(&request(5, "ping", json!({}))).await;
    let answer = client.answer(&Value::Null).await;
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer["error"]["message"].as_str().unwrap().contains('5'));
    fake.release.notify_one();
    assert_eq!(
        client.answer(&json!(5)).await["result"]["content"][0]["text"],
        "released"
    );
    // Answered, so free again.
    assert_eq!(
        client.request(5, "ping", json!({})).await["result"],
        json!({})
    );
}

#[tokio::test]
async fn an_unknown_method_and_wrong_parameters_are_told_apart() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let answer = client.request(1, "resources/lost", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 5})),
        ("logging/setLevel", json!({"level": "loud"})),
    ] {
        let answer = client.request(2, method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    client
        .send(&json!({"jsonrpc": "2.0", "id": 3, "method": "ping", "params": [1]}))
        .await;
    assert_eq!(client.answer(&json!(3)).await["error"]["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_not_read_from_for_ever() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let call = json!({"name": "big", "arguments": {"padding": "x".repeat(8 * 1024)}});
    let mut sent = 0;
    while client
        .try_send(&request(sent + 1, "tools/call", call.clone()))
        .await
    {
        sent += 1;
        assert!(sent < 1000, "the server reads on and on");
    }
    let mut called = 0;
    while let Ok(event) = events.try_recv() {
        called += i64::from(matches!(event, Seen::Called(..)));
    }
    // Answers of 1 MiB each that nobody takes: more than 4 MiB of them, and then no more.
    assert!((4..=16).contains(&called), "{called} answers are held");
    assert!(called < sent);
    for _ in 0..called {
        let answer = client.receive().await;
        let text = answer["result"]["content"][0]["text"].as_str();
        assert_eq!(text.unwrap().len(), 1024 * 1024);
    }
}

#[tokio::test(start_paused = true)]
async fn only_so_many_requests_can_be_unanswered() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let mut sent = 0;
    while client
        .try_send(&request(sent + 1, "tools/call", json!({"name": "wait"})))
        .await
    {
        sent += 1;
    }
    let mut called = 0;
    while let Ok(event) = events.try_recv() {
        called += i32::from(matches!(event, Seen::Called(..)));
    }
    assert_eq!(called, 128);
    assert!(sent > 128);
}

#[tokio::test]
async fn messages_stay_whole_and_in_order_for_a_client_that_takes_a_few_bytes_at_a_time() {
    let (fake, _events) = Fake::new();
    let (near, far) = tokio::io::duplex(16);
    let server = tokio::spawn(serve_stream(Arc::clone(&fake) as _, far, None));
    let mut client = Client::over(near, server);
    client.initialize("2025-11-25", json!({})).await;
    client.request(1, "ping", json!({})).await;
    client.send_line(b"garbage").await;
    client.send(&request(2, "ping", json!({}))).await;
    for _ in 0..10 {
        fake.notify(Notice::ToolsChanged);
        tokio::task::yield_now().await;
    }
    assert_eq!(client.answer(&Value::Null).await["error"]["code"], -32700);
    assert_eq!(client.answer(&json!(2)).await["result"], json!({}));
    for _ in 0..10 {
        client
            .notification("notifications/tools/list_changed")
            .await;
    }
}

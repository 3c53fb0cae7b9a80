//! Calls: their results, their refusals, their progress, and taking them back.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    backend::{Fake, Seen},
    client::{Client, request, seen},
};

#[tokio::test]
async fn a_result_has_text_for_the_model_and_structured_content() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let answer = client
        .call(1, "echo", json!({"text": "a\u{0}\u{202e}b"}))
        .await;
    assert_eq!(answer["result"]["content"][0]["text"], "a\u{0}\u{202e}b");
    assert_eq!(
        answer["result"]["structuredContent"]["text"],
        "a\u{0}\u{202e}b"
    );
    assert_eq!(answer["result"]["isError"], false);
    let answer = client
        .call(2, "test_multiple_content_types", json!({}))
        .await;
    let content = answer["result"]["content"].as_array().unwrap();
    let kinds: Vec<&str> = content
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["text", "image", "resource"]);
}

#[tokio::test]
async fn a_tool_that_fails_and_a_refused_call_are_results_that_the_model_reads() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let answer = client.call(1, "fail", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["structuredContent"]["exit"], 1);
    let answer = client.call(2, "deny", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "a person has said no"
    );
    let error = &answer["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "denied");
    assert_eq!(error["retryable"], false);
}

#[tokio::test]
async fn wrong_input_is_a_result_with_the_signature() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    for arguments in [json!({}), json!([]), json!("text"), json!(5)] {
        let answer = client.call(1, "echo", arguments).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        assert_eq!(
            result["structuredContent"]["error"]["code"],
            "invalid_input"
        );
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("echo(text: string)"), "{text}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    for arguments in [json!({}), json!([])] {
        let answer = client.call(1, "nope", arguments).await;
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["data"]["error"]["code"], "unknown_command");
    }
}

#[tokio::test]
async fn a_call_that_panics_is_an_error_and_the_connection_goes_on() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    assert_eq!(
        client.call(1, "panic", json!({})).await["error"]["code"],
        -32603
    );
    assert!(client.call(2, "echo", json!({"text": "a"})).await["result"].is_object());
    while seen(&mut events).await != Seen::Dropped("panic".into()) {}
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_not_answered() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client
        .send(&request(1, "tools/call", json!({"name": "wait"})))
        .await;
    while !matches!(seen(&mut events).await, Seen::Called(..)) {}
    client
        .send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 1, "reason": "enough"}}),
        )
        .await;
    assert_eq!(seen(&mut events).await, Seen::Dropped("wait".into()));
    assert_eq!(
        client.request(2, "ping", json!({})).await["result"],
        json!({})
    );
    assert!(client.notifications.is_empty());
    // A cancellation that comes too late, or of nothing, is nothing.
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}))
        .await;
    assert_eq!(
        client.request(3, "ping", json!({})).await["result"],
        json!({})
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_takes_its_calls_with_it() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client
        .send(&request(1, "tools/call", json!({"name": "wait"})))
        .await;
    while !matches!(seen(&mut events).await, Seen::Called(..)) {}
    drop(client);
    assert_eq!(seen(&mut events).await, Seen::Dropped("wait".into()));
    assert!(matches!(seen(&mut events).await, Seen::Closed(_)));
}

fn with_token(tool: &str) -> Value {
    json!({"name": tool, "_meta": {"progressToken": "p"}})
}

fn steps(client: &Client) -> Vec<f64> {
    let notifications = client.notifications.iter();
    notifications
        .map(|message| {
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], "p");
            message["params"]["progress"].as_f64().unwrap()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_rises_and_comes_before_the_answer() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    for round in 0..50 {
        client
            .request(round, "tools/call", with_token("steps"))
            .await;
        assert_eq!(steps(&client), [1.0, 2.0, 3.0]);
        client.notifications.clear();
    }
    client.request(1, "ping", json!({})).await;
    assert!(client.notifications.is_empty());
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client.call(1, "steps", json!({})).await;
    assert!(client.notifications.is_empty());
    loop {
        if let Seen::Called(_, call) = seen(&mut events).await {
            assert!(!call.progress);
            break;
        }
    }
}

#[tokio::test]
async fn progress_that_a_slow_client_cannot_take_is_dropped() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client
        .send(&request(1, "tools/call", with_token("flood")))
        .await;
    // Nothing is read until another connection has seen that the call is over.
    let mut other = Client::session(&fake).await;
    while !matches!(seen(&mut events).await, Seen::Called(..)) {}
    let answered = timeout(
        Duration::from_secs(20),
        other.call(1, "echo", json!({"text": "a"})),
    )
    .await;
    assert!(answered.unwrap()["result"].is_object());
    let answer = client.answer(&json!(1)).await;
    assert_eq!(answer["result"]["content"][0]["text"], "flooded");
    let steps = steps(&client);
    assert!(
        !steps.is_empty() && steps.len() <= 64,
        "{} notifications",
        steps.len()
    );
    assert!(steps.is_sorted_by(|earlier, later| earlier < later));
}

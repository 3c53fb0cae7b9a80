//! What clients are told of their own accord.

use harness_mcp::Notice;
use serde_json::json;

use crate::{
    backend::{Fake, wake},
    client::{Client, request, stateless},
};

const LIST_CHANGED: &str = "notifications/tools/list_changed";

#[tokio::test]
async fn a_session_hears_of_changed_tools_once_it_is_ready() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}});
    client.request(0, "initialize", params).await;
    // Not ready yet: what happens now is not lost, but not told either.
    fake.notify(Notice::ToolsChanged);
    client.request(1, "ping", json!({})).await;
    assert!(client.notifications.is_empty());
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    client.notification(LIST_CHANGED).await;
    fake.notify(Notice::ToolsChanged);
    client.notification(LIST_CHANGED).await;
}

#[tokio::test]
async fn wakes_come_as_a_log_message_and_under_their_own_name() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client.request(1, "ping", json!({})).await;
    fake.notify(Notice::Wakes(vec![wake(), wake()]));
    let log = client.notification("notifications/message").await;
    assert_eq!(log["params"]["level"], "info");
    assert_eq!(log["params"]["logger"], "harness.wakes");
    assert_eq!(log["params"]["data"]["wakes"][1]["from"], "bash-task-abcd");
    let own = client.notification("notifications/harness/wake").await;
    assert_eq!(own["params"]["wakes"], log["params"]["data"]["wakes"]);
}

#[tokio::test]
async fn a_client_that_wants_warnings_only_gets_no_log_message_of_wakes() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    for (level, logged) in [("warning", false), ("debug", true), ("emergency", false)] {
        let answer = client
            .request(1, "logging/setLevel", json!({"level": level}))
            .await;
        assert_eq!(answer["result"], json!({}));
        fake.notify(Notice::Wakes(vec![wake()]));
        client.notification("notifications/harness/wake").await;
        assert_eq!(client.notifications.len(), usize::from(logged), "{level}");
        client.notifications.clear();
    }
}

#[tokio::test]
async fn two_sessions_are_both_told() {
    let (fake, _events) = Fake::new();
    let mut clients = [Client::session(&fake).await, Client::session(&fake).await];
    for client in &mut clients {
        client.request(1, "ping", json!({})).await;
    }
    fake.notify(Notice::ToolsChanged);
    for client in &mut clients {
        client.notification(LIST_CHANGED).await;
    }
}

#[tokio::test]
async fn the_stateless_protocol_listens_for_changed_tools_and_hears_nothing_else() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let wanted = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    client
        .send(&request(
            7,
            "subscriptions/listen",
            stateless(wanted, json!({})),
        ))
        .await;
    let told = client
        .notification("notifications/subscriptions/acknowledged")
        .await;
    assert_eq!(
        told["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    fake.notify(Notice::Wakes(vec![wake()]));
    fake.notify(Notice::ToolsChanged);
    let told = client.notification(LIST_CHANGED).await;
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        7
    );
    assert!(client.notifications.is_empty());
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}))
        .await;
    let list = stateless(json!({}), json!({}));
    client.request(8, "tools/list", list).await;
    fake.notify(Notice::ToolsChanged);
    let list = stateless(json!({}), json!({}));
    client.request(9, "tools/list", list).await;
    assert!(client.notifications.is_empty());
}

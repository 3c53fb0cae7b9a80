//! Which tools a connection sees, and how they are listed.

use std::sync::{Arc, atomic::Ordering};

use harness_mcp::{Notice, Server, UnknownPeer};
use serde_json::{Value, json};

use crate::{
    backend::Fake,
    client::{Client, request},
};

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn the_first_line_narrows_the_view() {
    let (fake, _events) = Fake::new();
    for (line, server, tools) in [
        (r#"{"harness":{"group":"bash"}}"#, "bash", vec!["echo"]),
        (r#"{"harness":{"server":"github"}}"#, "github", vec!["wait"]),
    ] {
        let mut client = Client::connect(&fake);
        client.send_line(line.as_bytes()).await;
        let result = client.initialize("2025-11-25", json!({})).await;
        assert_eq!(result["serverInfo"]["name"], server);
        assert!(result.get("instructions").is_none());
        let listed = client.request(1, "tools/list", json!({})).await;
        assert_eq!(names(&listed), tools);
    }
    for line in [r#"{"harness":{}}"#, "{}"] {
        let mut client = Client::connect(&fake);
        client.send_line(line.as_bytes()).await;
        let result = client.initialize("2025-11-25", json!({})).await;
        assert_eq!(result["serverInfo"]["name"], "harness");
    }
}

#[tokio::test]
async fn an_unknown_view_is_refused_on_the_first_request_and_the_connection_ends() {
    let (fake, mut events) = Fake::new();
    for (line, wanted) in [
        (r#"{"harness":{"group":"bush"}}"#, "there is bash"),
        (r#"{"harness":{"grop":"bash"}}"#, "unknown key"),
        (r#"{"harness":"bash"}"#, "not an object"),
    ] {
        let mut client = Client::connect(&fake);
        client.send_line(line.as_bytes()).await;
        client
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/x"}))
            .await;
        let answer = client.request(9, "initialize", json!({})).await;
        assert_eq!(answer["error"]["code"], -32602);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(wanted), "{message}");
        client.ended().await;
    }
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn schemas_are_listed_as_given_and_an_output_schema_admits_errors() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let answer = client.request(1, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "echo").unwrap();
    assert_eq!(echo["inputSchema"]["additionalProperties"], false);
    assert_eq!(echo["annotations"], json!({"readOnlyHint": true}));
    assert_eq!(echo["outputSchema"]["type"], "object");
    assert_eq!(
        echo["outputSchema"]["anyOf"][0]["required"],
        json!(["text"])
    );
    assert!(answer["result"].get("nextCursor").is_none());
}

#[tokio::test]
async fn more_than_200_tools_come_on_pages() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    client.send_line(br#"{"harness":{"group":"many"}}"#).await;
    client.initialize("2025-11-25", json!({})).await;
    let mut seen = Vec::new();
    let mut params = json!({});
    for id in 1.. {
        let page = client.request(id, "tools/list", params).await;
        seen.extend(names(&page).into_iter().map(str::to_owned));
        match page["result"].get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    let all: Vec<String> = (0..450).map(|number| format!("tool{number:03}")).collect();
    assert_eq!(seen, all);
    for cursor in ["", "0", "1", "450", "-200", "99999999999999999999999", "x"] {
        let answer = client
            .request(9, "tools/list", json!({"cursor": cursor}))
            .await;
        assert_eq!(answer["error"]["code"], -32602, "{cursor}");
    }
}

#[tokio::test]
async fn the_catalogue_is_read_once_until_it_changes() {
    let (fake, _events) = Fake::new();
    let server = Server::new(fake.clone());
    let listed = async || {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let serving = tokio::spawn({
            let server = server.clone();
            async move { server.serve_stream(far, Arc::new(UnknownPeer(None))).await }
        });
        let mut client = Client::over(near, serving);
        client.initialize("2025-11-25", json!({})).await;
        let answer = client.request(1, "tools/list", json!({})).await;
        names(&answer).contains(&"more")
    };
    assert!(!listed().await && !listed().await);
    assert_eq!(fake.listed.load(Ordering::SeqCst), 1);
    fake.more.store(true, Ordering::SeqCst);
    fake.notify(Notice::ToolsChanged);
    assert!(listed().await && listed().await);
    assert_eq!(fake.listed.load(Ordering::SeqCst), 2);
    // Nothing is kept of a view that does not exist.
    let mut client = Client::connect(&fake);
    client.send_line(br#"{"harness":{"group":"bush"}}"#).await;
    client.send(&request(1, "ping", json!({}))).await;
    assert!(client.receive().await["error"].is_object());
}

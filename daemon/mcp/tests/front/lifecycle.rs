//! Both lifecycles, from the first message to the last.

use harness_model::Front;
use serde_json::{Value, json};

use crate::{
    backend::{Fake, Seen},
    client::{Client, request, seen, stateless},
};

#[tokio::test]
async fn every_session_revision_is_spoken_as_asked_for() {
    let (fake, _events) = Fake::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::connect(&fake);
        let result = client.initialize(version, json!({})).await;
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "harness");
        assert_eq!(result["instructions"], "Use echo.");
        assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
        let answer = client.call(1, "echo", json!({"text": "hi"})).await;
        assert_eq!(answer["result"]["content"][0]["text"], "hi", "{version}");
        assert!(answer["result"].get("resultType").is_none(), "{version}");
    }
}

#[tokio::test]
async fn an_unknown_revision_gets_the_newest_one_that_has_sessions() {
    let (fake, _events) = Fake::new();
    for version in ["2026-07-28", "2099-01-01", "1.0"] {
        let mut client = Client::connect(&fake);
        let result = client.initialize(version, json!({})).await;
        assert_eq!(result["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[tokio::test]
async fn before_initialize_a_ping_is_answered_and_other_requests_are_refused() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    assert_eq!(
        client.request(1, "ping", json!({})).await["result"],
        json!({})
    );
    for method in ["tools/list", "tools/call", "unheard/of"] {
        let answer = client.request(2, method, json!({"name": "echo"})).await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("initialize")
        );
    }
    client.initialize("2025-11-25", json!({})).await;
    assert!(client.request(3, "tools/list", json!({})).await["result"].is_object());
}

#[tokio::test]
async fn notifications_and_answers_before_initialize_do_not_end_the_connection() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    for early in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ] {
        client.send(&early).await;
    }
    let result = client.initialize("2025-11-25", json!({})).await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn initialize_with_wrong_parameters_is_told_what_is_wrong() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let answer = client
        .request(1, "initialize", json!({"capabilities": {}}))
        .await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("protocolVersion")
    );
}

#[tokio::test]
async fn a_second_initialize_is_refused_and_the_session_goes_on() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "again", "version": "1"}});
    let answer = client.request(1, "initialize", params).await;
    assert_eq!(answer["error"]["code"], -32600);
    assert!(client.call(2, "echo", json!({"text": "a"})).await["result"].is_object());
}

#[tokio::test]
async fn a_session_is_opened_by_name_and_closed_and_its_calls_carry_it() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::session(&fake).await;
    let Seen::Opened(session, name) = seen(&mut events).await else {
        panic!("opened first")
    };
    assert_eq!(name, "tester");
    client.call(1, "echo", json!({"text": "a"})).await;
    let Seen::Called(tool, call) = seen(&mut events).await else {
        panic!("then called")
    };
    assert_eq!(
        (tool.as_str(), call.front, call.uid),
        ("echo", Front::Mcp, Some(1000))
    );
    assert_eq!(call.session, session);
    client.finish(b"").await;
    client.ended().await;
    assert_eq!(seen(&mut events).await, Seen::Closed(session));
}

#[tokio::test]
async fn a_client_that_never_introduces_itself_is_no_session() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::connect(&fake);
    client.request(1, "ping", json!({})).await;
    client.finish(b"").await;
    client.ended().await;
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn the_stateless_protocol_needs_no_initialize_and_has_no_ping() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::connect(&fake);
    let params = stateless(json!({}), json!({}));
    let answer = client.request(1, "server/discover", params.clone()).await;
    let versions = answer["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&Value::from("2026-07-28")), "{answer}");
    let call = json!({"name": "echo", "arguments": {"text": "hi"}});
    let answer = client
        .request(2, "tools/call", stateless(call, json!({})))
        .await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["structuredContent"]["text"], "hi");
    let answer = client.request(3, "tools/list", params.clone()).await;
    assert!(answer["result"]["ttlMs"].is_u64() && answer["result"]["cacheScope"].is_string());
    for method in ["ping", "logging/setLevel", "initialize"] {
        let answer = client.request(4, method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    assert!(matches!(seen(&mut events).await, Seen::Opened(_, name) if name == "stateless"));
}

#[tokio::test]
async fn a_stateless_request_without_its_metadata_is_told_what_is_missing() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let version = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let answer = client.request(1, "tools/list", version).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("clientCapabilities")
    );
    let mut params = stateless(json!({}), json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = client.request(2, "tools/list", params).await;
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
}

#[tokio::test]
async fn a_client_that_has_said_all_still_gets_its_answers() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client
        .send(&request(1, "tools/call", json!({"name": "wait"})))
        .await;
    let last = request(
        2,
        "tools/call",
        json!({"name": "echo", "arguments": {"text": "end"}}),
    );
    // The last line has no end, and is whole all the same.
    client.finish(last.to_string().as_bytes()).await;
    let answer = client.answer(&json!(2)).await;
    assert_eq!(answer["result"]["content"][0]["text"], "end");
    fake.release.notify_one();
    assert_eq!(
        client.answer(&json!(1)).await["result"]["content"][0]["text"],
        "released"
    );
    client.ended().await;
}

#[tokio::test]
async fn a_message_that_breaks_off_ends_the_connection_with_an_error() {
    let (fake, _events) = Fake::new();
    let mut client = Client::session(&fake).await;
    client.finish(br#"{"jsonrpc":"2.0","id":1,"meth"#).await;
    assert_eq!(client.receive().await["error"]["code"], -32700);
    client.ended().await;
}

//! What is on the wire.

use serde_json::{Value, json};

use crate::client::{Client, host, text};

fn saboteur() -> Client {
    Client::open(host("saboteur.so", ""))
}

/// What every request of the stateless protocol says of its client.
fn stateless(mut parameters: Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    parameters
}

#[test]
fn a_session_lists_the_tools_and_calls_them() {
    let mut client = saboteur();
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    let listed = client.request("tools/list", &json!({}));
    let tools = &listed["result"]["tools"];
    assert_eq!(tools[0]["name"], "echo", "{listed}");
    assert_eq!(tools[0]["_meta"], json!({"org.harnessd/direct": true}));
    assert!(tools[1].get("_meta").is_none(), "{listed}");
    assert!(listed["result"].get("resultType").is_none(), "{listed}");
    let result = client.call("echo", &json!({"a": [1, "ü\u{0}"]}));
    assert_eq!(
        result["structuredContent"]["input"],
        json!({"a": [1, "ü\u{0}"]})
    );
    assert_eq!(result["isError"], false);
    let end = client.end();
    assert_eq!((end.code, end.log.as_str()), (0, "saboteur: shut down\n"));
}

#[test]
fn an_older_session_gets_its_version_and_an_unknown_one_the_newest() {
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::start(host("saboteur.so", ""));
        let client_info = json!({"name": "t", "version": "0"});
        let parameters =
            json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": client_info});
        let reply = client.request("initialize", &parameters);
        assert_eq!(reply["result"]["protocolVersion"], given, "{reply}");
        assert_eq!(reply["result"]["serverInfo"]["name"], "saboteur", "{reply}");
    }
}

#[test]
fn the_protocol_without_sessions_is_served_beside() {
    let mut client = Client::start(host("saboteur.so", ""));
    let found = client.request("server/discover", &stateless(json!({})));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.request("tools/list", &stateless(json!({})));
    assert_eq!(listed["result"]["resultType"], "complete", "{listed}");
    assert_eq!(listed["result"]["cacheScope"], "private", "{listed}");
    let call = json!({"name": "echo", "arguments": {}});
    let called = client.request("tools/call", &stateless(call));
    assert_eq!(called["result"]["resultType"], "complete", "{called}");
    let refused = client.request("ping", &stateless(json!({})));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
}

#[test]
fn what_is_no_request_is_answered_and_the_session_goes_on() {
    let mut client = saboteur();
    client.send_raw(b"{nonsense\n\n\xff\xfe\n");
    for _ in 0..2 {
        assert_eq!(client.receive().unwrap()["error"]["code"], -32700);
    }
    let mut long = vec![b'x'; 17 << 20];
    long.push(b'\n');
    client.send_raw(&long);
    assert_eq!(client.receive().unwrap()["error"]["code"], -32600);
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "result": {}}));
    let unknown = client.request("resources/list", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    assert_eq!(client.call("echo", &json!({}))["isError"], false);
}

#[test]
fn a_call_that_cannot_be_is_refused_without_asking_the_plugin() {
    let mut client = saboteur();
    let unknown = client.request("tools/call", &json!({"name": "ehco"}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let nameless = client.request("tools/call", &json!({}));
    assert_eq!(nameless["error"]["code"], -32602, "{nameless}");
    let result = client.call("echo", &json!([1]));
    assert_eq!(result["isError"], true, "{result}");
    assert!(text(&result).contains("a JSON object"), "{result}");
    let paged = client.request("tools/list", &json!({"cursor": "x"}));
    assert_eq!(paged["error"]["code"], -32602, "{paged}");
}

#[test]
fn calls_run_side_by_side_report_progress_and_are_cancelled_without_an_answer() {
    let mut client = saboteur();
    let call = json!({"name": "wait", "arguments": {}, "_meta": {"progressToken": "p"}});
    let waiting = client.begin("tools/call", &call);
    assert_eq!(client.call("echo", &json!({}))["isError"], false);
    while client.notifications.is_empty() {
        let message = client.receive().unwrap();
        client.notifications.push(message);
    }
    // The second report did not rise, and is not passed on.
    let progress =
        json!({"progressToken": "p", "progress": 1.0, "total": 2.0, "message": "waiting"});
    let [notification] = client.notifications.as_slice() else {
        panic!("{:?}", client.notifications);
    };
    assert_eq!(notification["params"], progress);
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting},
    }));
    client.close();
    assert_eq!(client.receive(), None, "the answer to a cancelled call");
    let end = client.ended();
    assert_eq!(end.code, 0);
    assert!(
        end.log.contains("saboteur: cancelled\nsaboteur: shut down"),
        "{end:?}"
    );
}

#[test]
fn one_id_is_for_one_call_at_a_time() {
    let mut client = saboteur();
    let call = json!({
        "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "wait", "arguments": {}},
    });
    client.send(&call);
    client.send(&call);
    let reply = client.receive().unwrap();
    assert!(text(&reply["result"]).contains("runs already"), "{reply}");
}

#[test]
fn calls_in_flight_are_answered_when_the_client_closes_its_side() {
    let mut client = saboteur();
    let ids: Vec<i64> = (0..20)
        .map(|number| {
            client.begin(
                "tools/call",
                &json!({"name": "echo", "arguments": {"n": number}}),
            )
        })
        .collect();
    client.close();
    let mut answered: Vec<i64> = std::iter::from_fn(|| client.receive())
        .map(|message| message["id"].as_i64().unwrap())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(client.ended().code, 0);
}

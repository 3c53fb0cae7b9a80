//! Streamable HTTP: who is let in, sessions, streams, and the stateless protocol.

use harness_mcp::Notice;
use harness_model::Front;
use serde_json::{Value, json};

use crate::{
    backend::{Fake, Seen},
    client::{request, seen, stateless},
    web::{Reply, Web},
};

const STATELESS: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

fn call(id: i64, tool: &str, arguments: Value) -> Value {
    request(
        id,
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
}

async fn status(web: &Web, headers: &[(&str, &str)]) -> u16 {
    let reply = web
        .post("/mcp", headers, &request(1, "ping", json!({})))
        .await;
    reply.status.as_u16()
}

#[tokio::test]
async fn without_the_token_nothing_is_served() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    for authorization in [
        "",
        "Bearer wrong",
        "Bearer ",
        "Bearer s3cre",
        "s3cret",
        "Basic s3cret",
    ] {
        for path in ["/mcp", "/mcp/group/bash", "/mcp/group/none"] {
            let headers = [("authorization", authorization)];
            let mut reply = web
                .post(path, &headers, &request(1, "ping", json!({})))
                .await;
            assert_eq!(reply.status, 401, "{authorization}");
            let challenge = reply.headers["www-authenticate"].to_str().unwrap();
            assert!(challenge.starts_with("Bearer realm="), "{challenge}");
            assert!(
                reply.message().await["error"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("token")
            );
        }
    }
    assert_eq!(
        status(&web, &[("authorization", "bearer  s3cret")]).await,
        400
    );
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn only_loopback_hosts_and_origins_are_let_in() {
    let (fake, _events) = Fake::new();
    let web = Web::start(&fake).await;
    // A ping without a session: 400 means that it got through to the protocol.
    for host in ["localhost", "localhost:7718", "127.0.0.1:80", "[::1]:9"] {
        assert_eq!(status(&web, &[("host", host)]).await, 400, "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "192.168.1.1",
        "0.0.0.0",
    ] {
        assert_eq!(status(&web, &[("host", host)]).await, 403, "{host}");
    }
    for origin in [
        "http://localhost:3000",
        "https://127.0.0.1",
        "http://[::1]:1",
    ] {
        assert_eq!(status(&web, &[("origin", origin)]).await, 400, "{origin}");
    }
    for origin in [
        "https://evil.example",
        "http://localhost.evil.example",
        "null",
        "file://x",
        "garbage",
    ] {
        assert_eq!(status(&web, &[("origin", origin)]).await, 403, "{origin}");
    }
}

/// All that a client is ever asked is for a person's answer to an approval.
#[tokio::test]
async fn a_peer_that_nobody_knows_answers_no_request_of_the_servers() {
    let (fake, _events) = Fake::new();
    let web = Web::start(&fake).await;
    let replies = [
        json!({"jsonrpc": "2.0", "id": 0, "result": {"action": "accept"}}),
        json!({"jsonrpc": "2.0", "id": 0, "error": {"code": 1, "message": "no"}}),
    ];
    for reply in replies {
        let mut refused = web.post("/mcp", &[], &reply).await;
        assert_eq!(refused.status, 403);
        let error = refused.message().await["error"]["message"].clone();
        assert!(error.as_str().unwrap().contains("for a person"), "{error}");
    }
}

#[tokio::test]
async fn the_shape_of_a_request_is_checked() {
    let (fake, _events) = Fake::new();
    let web = Web::start(&fake).await;
    let ping = request(1, "ping", json!({}));
    for (headers, wanted) in [
        ([("content-type", "text/plain")], 415),
        ([("content-type", "")], 415),
        ([("accept", "application/json")], 406),
        ([("accept", "text/html")], 406),
        ([("mcp-session-id", "unknown")], 404),
        ([("mcp-protocol-version", "1999-01-01")], 400),
    ] {
        let reply = web.post("/mcp", &headers, &ping).await;
        assert_eq!(reply.status, wanted, "{headers:?}");
    }
    for method in ["PUT", "PATCH", "OPTIONS"] {
        assert_eq!(
            web.send(method, "/mcp", &[], "").await.status,
            405,
            "{method}"
        );
    }
    for (body, code) in [
        (b"garbage".to_vec(), -32700),
        (b"".to_vec(), -32700),
        (b"\xff".to_vec(), -32700),
        (b"[]".to_vec(), -32600),
        (
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_vec(),
            -32600,
        ),
    ] {
        let mut reply = web.send("POST", "/mcp", &[], body).await;
        assert_eq!(reply.status, 400);
        assert_eq!(reply.message().await["error"]["code"], code);
    }
    let mut reply = web
        .send("POST", "/mcp", &[], vec![b' '; 16 * 1024 * 1024 + 1])
        .await;
    assert_eq!(reply.status, 413);
    assert_eq!(reply.message().await["error"]["code"], -32600);
    assert_eq!(web.post("/elsewhere", &[], &ping).await.status, 404);
}

#[tokio::test]
async fn a_session_is_opened_used_and_deleted() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    let id = web.session("/mcp").await;
    let headers = [("mcp-session-id", id.as_str())];
    let Seen::Opened(session, name) = seen(&mut events).await else {
        panic!("opened first")
    };
    assert_eq!(name, "web");
    let mut reply = web
        .post("/mcp", &headers, &call(1, "echo", json!({"text": "hi"})))
        .await;
    assert_eq!(
        reply.message().await["result"]["structuredContent"]["text"],
        "hi"
    );
    let Seen::Called(_, called) = seen(&mut events).await else {
        panic!("then called")
    };
    assert_eq!((called.front, called.uid), (Front::McpHttp, None));
    assert_eq!(called.session, session);
    assert_eq!(web.send("DELETE", "/mcp", &headers, "").await.status, 204);
    assert_eq!(seen(&mut events).await, Seen::Closed(session));
    for method in ["DELETE", "GET"] {
        assert_eq!(web.send(method, "/mcp", &headers, "").await.status, 404);
    }
    assert_eq!(
        web.post("/mcp", &headers, &request(2, "ping", json!({})))
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn views_have_their_own_paths_and_sessions() {
    let (fake, _events) = Fake::new();
    let web = Web::start(&fake).await;
    for (path, tool) in [("/mcp/group/bash", "echo"), ("/mcp/server/github", "wait")] {
        let id = web.session(path).await;
        let headers = [("mcp-session-id", id.as_str())];
        let list = request(1, "tools/list", json!({}));
        let mut reply = web.post(path, &headers, &list).await;
        assert_eq!(reply.message().await["result"]["tools"][0]["name"], tool);
        assert_eq!(web.post("/mcp", &headers, &list).await.status, 404);
        assert_eq!(web.send("DELETE", "/mcp", &headers, "").await.status, 404);
    }
    for path in ["/mcp/group/none", "/mcp/server/%00", "/mcp/group/..%2Fbash"] {
        let mut reply = web.post(path, &[], &request(1, "ping", json!({}))).await;
        assert_eq!(reply.status, 404);
        assert_eq!(
            reply.message().await["error"]["data"]["error"]["code"],
            "unknown_command"
        );
    }
}

#[tokio::test]
async fn changed_tools_are_told_on_the_standing_stream_which_can_be_resumed() {
    let (fake, _events) = Fake::new();
    let web = Web::start(&fake).await;
    let id = web.session("/mcp").await;
    let mut stream = web
        .send("GET", "/mcp", &[("mcp-session-id", &id)], "")
        .await;
    assert_eq!(stream.status, 200);
    fake.notify(Notice::ToolsChanged);
    let (first, message) = stream.event().await.unwrap();
    assert_eq!(message["method"], "notifications/tools/list_changed");
    drop(stream);
    let first = first.unwrap();
    // Whether the server has noticed the loss or not, the resumed stream tells what came after.
    let headers = [
        ("mcp-session-id", id.as_str()),
        ("last-event-id", first.as_str()),
    ];
    let mut resumed = web.send("GET", "/mcp", &headers, "").await;
    assert_eq!(resumed.status, 200);
    fake.notify(Notice::Wakes(vec![crate::backend::wake()]));
    loop {
        let (_, message) = resumed.event().await.unwrap();
        if message["method"] == "notifications/harness/wake" {
            break;
        }
    }
}

#[tokio::test]
async fn an_answer_whose_stream_broke_is_had_with_its_last_event_id() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    let id = web.session("/mcp").await;
    let headers = [("mcp-session-id", id.as_str())];
    let waiting = json!({"name": "wait", "_meta": {"progressToken": 1}});
    let stream = web
        .post("/mcp", &headers, &request(1, "tools/call", waiting))
        .await;
    while !matches!(seen(&mut events).await, Seen::Called(..)) {}
    drop(stream);
    // The first event of the first stream, which only says that there is one.
    let headers = [("mcp-session-id", id.as_str()), ("last-event-id", "0/0")];
    let mut resumed = web.send("GET", "/mcp", &headers, "").await;
    fake.release.notify_one();
    assert_eq!(
        resumed.message().await["result"]["content"][0]["text"],
        "released"
    );
}

#[tokio::test]
async fn a_request_id_in_use_is_refused() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    let id = web.session("/mcp").await;
    let headers = [("mcp-session-id", id.as_str())];
    let mut first = web
        .post("/mcp", &headers, &call(1, "wait", json!({})))
        .await;
    while !matches!(seen(&mut events).await, Seen::Called(..)) {}
    let mut second = web
        .post("/mcp", &headers, &call(1, "echo", json!({"text": "x"})))
        .await;
    assert_eq!(second.message().await["error"]["code"], -32600);
    fake.release.notify_one();
    assert_eq!(
        first.message().await["result"]["content"][0]["text"],
        "released"
    );
}

#[tokio::test]
async fn a_call_is_cancelled_over_http() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    let id = web.session("/mcp").await;
    let headers = [("mcp-session-id", id.as_str())];
    let mut waiting = web
        .post("/mcp", &headers, &call(1, "wait", json!({})))
        .await;
    while !matches!(seen(&mut events).await, Seen::Called(..)) {}
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(web.post("/mcp", &headers, &cancel).await.status, 202);
    assert_eq!(seen(&mut events).await, Seen::Dropped("wait".into()));
    assert!(waiting.event().await.is_none());
}

#[tokio::test]
async fn beyond_256_sessions_the_oldest_idle_one_is_closed() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    let busy = web.session("/mcp").await;
    let headers = [("mcp-session-id", busy.as_str())];
    let mut waiting = web
        .post("/mcp", &headers, &call(1, "wait", json!({})))
        .await;
    let oldest = web.session("/mcp/group/bash").await;
    let newer = web.session("/mcp").await;
    for _ in 3..=256 {
        web.session("/mcp").await;
    }
    let ping = request(2, "ping", json!({}));
    let reply = web
        .post("/mcp/group/bash", &[("mcp-session-id", &oldest)], &ping)
        .await;
    assert_eq!(reply.status, 404);
    for kept in [&busy, &newer] {
        let reply = web.post("/mcp", &[("mcp-session-id", kept)], &ping).await;
        assert_eq!(reply.status, 200);
    }
    while !matches!(seen(&mut events).await, Seen::Closed(_)) {}
    fake.release.notify_one();
    assert!(waiting.message().await["result"].is_object());
}

async fn stateless_call(web: &Web, path: &str, tool: &str, meta: Value) -> Reply {
    let mut params = stateless(json!({"name": tool, "arguments": {}}), json!({}));
    if let (Some(params), Value::Object(meta)) = (params["_meta"].as_object_mut(), meta) {
        params.extend(meta);
    }
    let headers = [STATELESS, ("mcp-method", "tools/call"), ("mcp-name", tool)];
    web.post(path, &headers, &request(1, "tools/call", params))
        .await
}

#[tokio::test]
async fn stateless_requests_need_no_session_and_those_of_one_client_share_one() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    for _ in 0..2 {
        let mut reply = stateless_call(&web, "/mcp", "test_simple_text", json!({})).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.headers["content-type"], "application/json");
        assert!(!reply.headers.contains_key("mcp-session-id"));
        assert_eq!(reply.message().await["result"]["resultType"], "complete");
    }
    let other = json!({"io.modelcontextprotocol/clientInfo": {"name": "other", "version": "1"}});
    stateless_call(&web, "/mcp", "test_simple_text", other).await;
    let mut opened = Vec::new();
    let mut called = Vec::new();
    while called.len() < 3 {
        match seen(&mut events).await {
            Seen::Opened(session, name) => opened.push((session, name)),
            Seen::Called(_, call) => called.push(call.session),
            Seen::Closed(_) | Seen::Dropped(_) | Seen::Told(..) => panic!("nothing ends"),
        }
    }
    let names: Vec<&str> = opened.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["stateless", "other"]);
    assert_eq!(
        called,
        [&opened[0].0, &opened[0].0, &opened[1].0].map(Clone::clone)
    );
}

#[tokio::test]
async fn a_stateless_call_streams_its_progress() {
    let (fake, _events) = Fake::new();
    let web = Web::start(&fake).await;
    let mut reply = stateless_call(&web, "/mcp", "steps", json!({"progressToken": 9})).await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    let mut steps = Vec::new();
    while let Some((_, message)) = reply.event().await {
        if message["method"] == "notifications/progress" {
            steps.push(message["params"]["progress"].as_f64().unwrap());
        } else {
            assert_eq!(message["result"]["content"][0]["text"], "stepped");
        }
    }
    assert_eq!(steps, [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn a_stateless_caller_that_hangs_up_cancels_its_call() {
    let (fake, mut events) = Fake::new();
    let web = Web::start(&fake).await;
    let waiting = tokio::spawn({
        let address = web.address;
        async move {
            let mut params = stateless(json!({"name": "wait"}), json!({}));
            params["arguments"] = json!({});
            let body = request(1, "tools/call", params).to_string();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer s3cret\r\n\
                 content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
                 mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: wait\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes())
                .await
                .unwrap();
            stream
        }
    });
    let stream = waiting.await.unwrap();
    while !matches!(seen(&mut events).await, Seen::Called(..)) {}
    drop(stream);
    assert_eq!(seen(&mut events).await, Seen::Dropped("wait".into()));
}

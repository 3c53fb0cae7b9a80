//! Servers at an address that do what servers do.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, StatusCode},
    response::{IntoResponse as _, Response},
    routing::any,
};
use futures_util::stream;
use harness_mcp::client::{Cause, Client, ClientError, HttpTarget, ServerEvent};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use crate::script::{LIMIT, call};

/// HTTP method, MCP method, session, protocol version.
type Asked = (Method, String, Option<String>, Option<String>);

/// A server with sessions, as there are most of.
#[derive(Default)]
struct Old {
    seen: Mutex<Vec<Asked>>,
    gone: AtomicBool,
    cancelled: Mutex<Option<mpsc::UnboundedSender<Value>>>,
}

impl Old {
    async fn start() -> (Arc<Self>, String) {
        let old = Arc::new(Self::default());
        let app = Router::new()
            .route("/mcp", any(serve))
            .with_state(Arc::clone(&old));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        (old, url)
    }
}

async fn serve(
    State(old): State<Arc<Old>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = message["method"].as_str().unwrap_or_default().to_owned();
    old.seen.lock().unwrap().push((
        method.clone(),
        asked.clone(),
        header("mcp-session-id"),
        header("mcp-protocol-version"),
    ));
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    if method == Method::GET {
        return match header("last-event-id") {
            // The rest of the answer to `broken`, whose id the client saw.
            Some(last) => events(vec![format!(
                "data: {}\n\n",
                json!({"jsonrpc": "2.0", "id": last.parse::<i64>().unwrap(), "result": {"resumed": true}})
            )]),
            None => events(vec![
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
                    .to_owned(),
            ]),
        };
    }
    if old.gone.load(Ordering::Relaxed) {
        return StatusCode::NOT_FOUND.into_response();
    }
    match asked.as_str() {
        "server/discover" => (StatusCode::BAD_REQUEST, "no session").into_response(),
        "initialize" => {
            let result =
                answer(json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}));
            (
                [
                    ("mcp-session-id", "s-1"),
                    ("content-type", "application/json"),
                ],
                result.to_string(),
            )
                .into_response()
        }
        "notifications/cancelled" => {
            let cancelled = old.cancelled.lock().unwrap();
            cancelled.as_ref().unwrap().send(message).unwrap();
            StatusCode::ACCEPTED.into_response()
        }
        method if method.starts_with("notifications/") => StatusCode::ACCEPTED.into_response(),
        "tools/call" => called(&message),
        _ => events(vec![format!("data: {}\n\n", answer(json!({})))]),
    }
}

fn called(message: &Value) -> Response {
    match message["params"]["name"].as_str().unwrap() {
        "broken" => events(vec![format!("id: {}\nretry: 1\ndata:\n\n", message["id"])]),
        "cut" => events(vec![": nothing\n\n".to_owned()]),
        "hang" => Response::builder()
            .header("content-type", "text/event-stream")
            .body(Body::from_stream(stream::pending::<
                Result<Bytes, Infallible>,
            >()))
            .unwrap(),
        "busy" => (StatusCode::SERVICE_UNAVAILABLE, "later").into_response(),
        "fail" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        _ => events(vec![format!(
            "event: message\ndata: {}\n\n",
            json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}})
        )]),
    }
}

fn events(texts: Vec<String>) -> Response {
    let texts = texts.into_iter().map(Ok::<_, Infallible>);
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(Body::from_stream(stream::iter(texts)))
        .unwrap()
}

async fn connect(url: &str) -> Client {
    let target = HttpTarget::new(url, []).unwrap();
    timeout(LIMIT, Client::over_http(target))
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn an_older_server_gets_a_session_which_each_request_names() {
    let (old, url) = Old::start().await;
    let client = connect(&url).await;
    assert_eq!(
        (client.hello().protocol.as_str(), client.hello().stateless),
        ("2025-06-18", false)
    );
    assert_eq!(
        client.call_tool(call("t")).await.unwrap(),
        json!({"content": []})
    );
    client.ping().await.unwrap();
    let seen = old.seen.lock().unwrap();
    let of = |method: &str| seen.iter().find(|seen| seen.1 == method).unwrap().clone();
    assert_eq!(of("server/discover").3.as_deref(), Some("2026-07-28"));
    assert_eq!(of("initialize").2, None);
    for method in ["notifications/initialized", "tools/call", "ping"] {
        let (_, _, session, version) = of(method);
        assert_eq!(
            (session.as_deref(), version.as_deref()),
            (Some("s-1"), Some("2025-06-18")),
            "{method}"
        );
    }
}

#[tokio::test]
async fn what_the_server_says_of_its_own_accord_is_heard() {
    let (_old, url) = Old::start().await;
    let client = connect(&url).await;
    let mut events = client.events();
    // It says so each time somebody listens, and that is done again when the stream ends.
    let event = timeout(LIMIT, events.recv()).await.unwrap().unwrap();
    assert!(
        matches!(event, ServerEvent::Notification { method, .. } if method == "notifications/tools/list_changed")
    );
}

#[tokio::test]
async fn an_answer_whose_stream_broke_off_is_resumed_or_lost_and_never_asked_for_twice() {
    let (old, url) = Old::start().await;
    let client = connect(&url).await;
    let resumed = timeout(LIMIT, client.call_tool(call("broken")))
        .await
        .unwrap();
    assert_eq!(resumed.unwrap(), json!({"resumed": true}));
    let lost = timeout(LIMIT, client.call_tool(call("cut"))).await.unwrap();
    assert!(
        matches!(lost, Err(ClientError::Lost(Cause::StreamEnded))),
        "{lost:?}"
    );
    let calls = old
        .seen
        .lock()
        .unwrap()
        .iter()
        .filter(|seen| seen.1 == "tools/call")
        .count();
    assert_eq!(calls, 2);
}

#[tokio::test]
async fn a_dropped_call_is_taken_back_by_a_message_of_its_own() {
    let (old, url) = Old::start().await;
    let (sender, mut cancelled) = mpsc::unbounded_channel();
    *old.cancelled.lock().unwrap() = Some(sender);
    let client = connect(&url).await;
    let hanging = tokio::spawn(async move { client.call_tool(call("hang")).await.map(|_| ()) });
    let asked = |old: &Old| {
        old.seen
            .lock()
            .unwrap()
            .iter()
            .any(|seen| seen.1 == "tools/call")
    };
    while !asked(&old) {
        tokio::task::yield_now().await;
    }
    hanging.abort();
    let message = timeout(LIMIT, cancelled.recv()).await.unwrap().unwrap();
    assert!(message["params"]["requestId"].is_i64(), "{message}");
}

#[tokio::test]
async fn a_status_tells_whether_the_call_was_made() {
    let (old, url) = Old::start().await;
    let client = connect(&url).await;
    let busy = client.call_tool(call("busy")).await;
    assert!(
        matches!(
            busy,
            Err(ClientError::NotSent(Cause::Status { status: 503, .. }))
        ),
        "{busy:?}"
    );
    let failed = client.call_tool(call("fail")).await;
    assert!(
        matches!(
            failed,
            Err(ClientError::Lost(Cause::Status { status: 500, .. }))
        ),
        "{failed:?}"
    );
    old.gone.store(true, Ordering::Relaxed);
    let gone = client.call_tool(call("t")).await;
    assert!(
        matches!(gone, Err(ClientError::NotSent(Cause::SessionGone))),
        "{gone:?}"
    );
    assert!(matches!(client.ended().await, Cause::SessionGone));
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_said_to_be_that() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let target = HttpTarget::new(&url, []).unwrap();
    let error = Client::over_http(target).await.err().unwrap();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    assert!(!error.is_permanent());
}

//! Against the front of this crate, which rmcp serves: in a session over pipes, and over HTTP in both lifecycles.

use std::sync::Arc;

use harness_mcp::{
    Token,
    client::{Client, ClientError, HttpTarget, ToolCall},
    router, serve_stream,
};
use serde_json::json;
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::{backend::Fake, script::call};

async fn does_the_job(client: &Client) {
    let (tools, warning) = client.tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "echo"), "{tools:?}");
    assert_eq!(warning, None);
    let arguments = json!({"text": "hello"}).as_object().cloned().unwrap();
    let result = client
        .call_tool(ToolCall {
            arguments,
            ..call("echo")
        })
        .await
        .unwrap();
    assert_eq!(
        result["structuredContent"],
        json!({"text": "hello"}),
        "{result}"
    );
    let absent = client.call_tool(call("absent")).await;
    assert!(
        matches!(absent, Err(ClientError::Answered(_))),
        "{absent:?}"
    );
    client.ping().await.unwrap();
}

#[tokio::test]
async fn pipes_in_a_session() {
    let (fake, _seen) = Fake::new();
    let (input, stdin) = std::io::pipe().unwrap();
    let (stdout, output) = std::io::pipe().unwrap();
    let stream = tokio::io::join(
        Receiver::from_owned_fd(input.into()).unwrap(),
        Sender::from_owned_fd(output.into()).unwrap(),
    );
    let serving = tokio::spawn(serve_stream(Arc::clone(&fake) as _, stream, None));
    let client = Client::over_pipes(stdin.into(), stdout.into())
        .await
        .unwrap();
    assert_eq!(client.hello().protocol, "2025-11-25");
    does_the_job(&client).await;
    drop(client);
    serving.await.unwrap();
}

#[tokio::test]
async fn http_without_a_session() {
    let (fake, _seen) = Fake::new();
    let token = Token::new("s3cret").unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = router(Arc::clone(&fake) as _, token);
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    let bearer = ("Authorization".to_owned(), "Bearer s3cret".to_owned());
    let client = Client::over_http(HttpTarget::new(&url, [bearer]).unwrap())
        .await
        .unwrap();
    assert!(client.hello().stateless);
    does_the_job(&client).await;

    let refused = Client::over_http(HttpTarget::new(&url, []).unwrap()).await;
    let error = refused.err().unwrap();
    assert!(
        error.is_permanent() && error.to_string().contains("401"),
        "{error}"
    );
    serving.abort();
}

//! An HTTP client that leaves nothing to a library.

use std::{net::SocketAddr, sync::Arc};

use harness_mcp::{Token, router};
use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Request, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};

use crate::{
    backend::Fake,
    client::{LIMIT, SESSIONS, request},
};

/// What every request has unless a test takes it away: set it to an empty value.
const USUAL: [(&str, &str); 4] = [
    ("host", "localhost"),
    ("authorization", "Bearer s3cret"),
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
];

/// A server on a loopback port, gone when it is dropped.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    server: JoinHandle<()>,
}

impl Drop for Web {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// A response whose body is still on its way.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    read: String,
}

impl Web {
    pub(crate) async fn start(fake: &Arc<Fake>) -> Self {
        let router = router(Arc::clone(fake) as _, Token::new("s3cret").unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, server }
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Reply {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        let unusual = |name: &str| headers.iter().all(|(given, _)| *given != name);
        let usual = USUAL.iter().filter(|(name, _)| unusual(name));
        for (name, value) in usual.chain(headers).filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let response = timeout(LIMIT, sender.send_request(request))
            .await
            .unwrap()
            .unwrap();
        let (head, body) = response.into_parts();
        Reply {
            status: head.status,
            headers: head.headers,
            body,
            read: String::new(),
        }
    }

    /// A POST of one message.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        message: &Value,
    ) -> Reply {
        self.send("POST", path, headers, message.to_string()).await
    }

    /// The id of a new session.
    pub(crate) async fn session(&self, path: &str) -> String {
        let params = json!({"protocolVersion": SESSIONS, "capabilities": {},
            "clientInfo": {"name": "web", "version": "1"}});
        let mut reply = self
            .post(path, &[], &request(0, "initialize", params))
            .await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.message().await["result"]["protocolVersion"], SESSIONS);
        let id = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let reply = self.post(path, &[("mcp-session-id", &id)], &ready).await;
        assert_eq!(reply.status, 202);
        id
    }
}

impl Reply {
    /// The next event of an event stream with a message: its id and its data.
    pub(crate) async fn event(&mut self) -> Option<(Option<String>, Value)> {
        loop {
            while let Some((event, rest)) = self.read.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = event.lines();
                    let mut values = lines.filter_map(|line| line.strip_prefix(name));
                    values.next().map(|value| value.trim().to_owned())
                };
                let (id, data) = (field("id:"), field("data:").unwrap_or_default());
                self.read = String::from(rest);
                if !data.is_empty() {
                    return Some((id, serde_json::from_str(&data).unwrap()));
                }
            }
            let frame = timeout(LIMIT, self.body.frame()).await.unwrap()?;
            let data = frame.unwrap().into_data().unwrap_or_default();
            self.read.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// The answer: the body, or the first answer in an event stream.
    pub(crate) async fn message(&mut self) -> Value {
        if self.headers["content-type"] == "text/event-stream" {
            loop {
                let (_, message) = self.event().await.unwrap();
                if message.get("method").is_none() {
                    return message;
                }
            }
        }
        serde_json::from_str(&self.text().await).unwrap()
    }

    pub(crate) async fn text(&mut self) -> String {
        let body = timeout(LIMIT, (&mut self.body).collect())
            .await
            .unwrap()
            .unwrap();
        String::from_utf8(body.to_bytes().to_vec()).unwrap()
    }
}

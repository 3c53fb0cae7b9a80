//! A client that says exactly what a test wants it to say.

use std::{sync::Arc, time::Duration};

use harness_mcp::serve_stream;
use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
    },
    sync::mpsc::UnboundedReceiver,
    task::JoinHandle,
    time::timeout,
};

use crate::backend::{Fake, Seen};

/// Longer than anything takes; a test that waits for what never comes fails.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The newest revision with `initialize`.
pub(crate) const SESSIONS: &str = "2025-11-25";

pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    /// Notifications that came before an answer that was waited for.
    pub(crate) notifications: Vec<Value>,
    server: JoinHandle<()>,
}

impl Client {
    /// A connection as the user 1000.
    pub(crate) fn connect(fake: &Arc<Fake>) -> Self {
        let (near, far) = duplex(64 * 1024);
        let serving = serve_stream(Arc::clone(fake) as _, far, Some(1000));
        Self::over(near, tokio::spawn(serving))
    }

    /// A connection that is already served.
    pub(crate) fn over(stream: DuplexStream, server: JoinHandle<()>) -> Self {
        let (reader, writer) = split(stream);
        Self {
            reader: BufReader::new(reader),
            writer: Some(writer),
            notifications: Vec::new(),
            server,
        }
    }

    /// A connection with a session.
    pub(crate) async fn session(fake: &Arc<Fake>) -> Self {
        let mut client = Self::connect(fake);
        client.initialize(SESSIONS, json!({})).await;
        client
    }

    pub(crate) async fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "tester", "version": "1"},
        });
        let answer = self.request(0, "initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        answer["result"].clone()
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &[u8]) {
        let writer = self.writer.as_mut().unwrap();
        timeout(LIMIT, async {
            writer.write_all(line).await.unwrap();
            writer.write_all(b"\n").await.unwrap();
        })
        .await
        .unwrap();
    }

    /// Writes without waiting for the server for long: says whether it took all of it.
    pub(crate) async fn try_send(&mut self, message: &Value) -> bool {
        let line = message.to_string() + "\n";
        let writer = self.writer.as_mut().unwrap();
        timeout(Duration::from_secs(1), writer.write_all(line.as_bytes()))
            .await
            .is_ok()
    }

    /// Says nothing more; `rest` is what stands behind the last line end.
    pub(crate) async fn finish(&mut self, rest: &[u8]) {
        let mut writer = self.writer.take().unwrap();
        writer.write_all(rest).await.unwrap();
        writer.shutdown().await.unwrap();
    }

    /// The next message, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(LIMIT, self.reader.read_line(&mut line)).await;
        (read.unwrap().unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn receive(&mut self) -> Value {
        self.next().await.unwrap()
    }

    /// The next notification of this method.
    pub(crate) async fn notification(&mut self, method: &str) -> Value {
        let is_it = |message: &Value| message["method"] == method;
        if let Some(place) = self.notifications.iter().position(is_it) {
            return self.notifications.remove(place);
        }
        loop {
            let message = self.receive().await;
            if is_it(&message) {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// The answer under this id, which may be null.
    pub(crate) async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive().await;
            if message.get("method").is_none() {
                assert_eq!(message["id"], *id, "{message}");
                return message;
            }
            self.notifications.push(message);
        }
    }

    pub(crate) async fn request(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(&request(id, method, params)).await;
        self.answer(&json!(id)).await
    }

    pub(crate) async fn call(&mut self, id: i64, tool: &str, arguments: Value) -> Value {
        self.request(
            id,
            "tools/call",
            json!({"name": tool, "arguments": arguments}),
        )
        .await
    }

    /// Waits until the server has let the connection go.
    pub(crate) async fn ended(mut self) {
        assert_eq!(self.next().await, None);
        timeout(LIMIT, self.server).await.unwrap().unwrap();
    }
}

pub(crate) fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The parameters with the metadata that the stateless protocol wants.
pub(crate) fn stateless(mut params: Value, capabilities: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

/// The next thing that the backend saw.
pub(crate) async fn seen(events: &mut UnboundedReceiver<Seen>) -> Seen {
    timeout(LIMIT, events.recv()).await.unwrap().unwrap()
}

//! A request on its way to a server.

use std::sync::Arc;

use harness_model::Progress;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Where the progress of a request goes; never blocks.
pub type Report = Arc<dyn Fn(Progress) + Send + Sync>;

/// One request.
pub(crate) struct Request {
    /// Never used before on this connection.
    pub(crate) id: i64,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// Where progress goes, if it is wanted; the request's id is its token.
    pub(crate) report: Option<Report>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    method: &'a str,
    params: &'a Map<String, Value>,
}

impl Request {
    /// As JSON, without a line end.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        envelope(Some(self.id), &self.method, &self.params)
    }
}

/// A notification as JSON, without a line end.
pub(crate) fn notification(method: &str, params: &Map<String, Value>) -> Vec<u8> {
    envelope(None, method, params)
}

/// The notification that takes a request back.
pub(crate) fn cancellation(id: i64) -> Vec<u8> {
    let mut params = Map::new();
    params.insert("requestId".to_owned(), id.into());
    params.insert("reason".to_owned(), "the caller took it back".into());
    notification("notifications/cancelled", &params)
}

/// The answer to a request of the server's.
pub(crate) fn answer(id: &Value, outcome: Result<Value, (i64, &str)>) -> Vec<u8> {
    let message = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, message)) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    };
    message.to_string().into_bytes()
}

fn envelope(id: Option<i64>, method: &str, params: &Map<String, Value>) -> Vec<u8> {
    let envelope = Envelope {
        jsonrpc: "2.0",
        id,
        method,
        params,
    };
    // Maps of JSON values are always JSON.
    serde_json::to_vec(&envelope).unwrap_or_default()
}

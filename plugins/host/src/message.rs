//! JSON-RPC 2.0 and the parts of MCP that are in every request.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The protocol versions with sessions, oldest first.
pub(crate) const SESSION_VERSIONS: [&str; 4] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The protocol version without.
pub(crate) const STATELESS_VERSION: &str = "2026-07-28";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// What a line holds.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

/// What to do with it.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification { method: String, params: Value },
    /// It answers something, and nothing was asked.
    Answer,
}

/// One request.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// It is of the protocol without sessions.
    pub(crate) stateless: bool,
}

/// Why a request is not answered with a result.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Fault {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

/// The code for a method that is not there.
pub(crate) const NO_METHOD: i32 = -32601;
/// The code for parameters that are not right.
pub(crate) const PARAMETERS: i32 = -32602;
const NO_JSON: i32 = -32700;
const NO_REQUEST: i32 = -32600;
const NO_VERSION: i32 = -32022;

impl Fault {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// For a line that was not kept.
    pub(crate) fn too_long() -> Self {
        Self::new(NO_REQUEST, "the message is longer than 16 MiB; use a file")
    }
}

/// The answer to a request.
pub(crate) fn answer(id: &Value, result: Result<Value, Fault>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => json!({"jsonrpc": "2.0", "id": id, "error": fault}),
    }
}

/// Reads one line. The error is whose request it is, as far as that can be read, and what is wrong with it.
pub(crate) fn read(line: &[u8]) -> Result<Incoming, (Value, Fault)> {
    let message: Value = serde_json::from_slice(line).map_err(|error| {
        (
            Value::Null,
            Fault::new(NO_JSON, format!("not JSON: {error}")),
        )
    })?;
    let no_request = |id: Value, what: &str| Err((id, Fault::new(NO_REQUEST, what)));
    let Ok(message) = Message::deserialize(message) else {
        return no_request(Value::Null, "not a JSON-RPC message");
    };
    let id = match message.id {
        None => None,
        Some(id @ (Value::String(_) | Value::Number(_))) => Some(id),
        Some(_) => return no_request(Value::Null, "an id is a string or a number"),
    };
    if message.jsonrpc != Some(Value::from("2.0")) {
        return no_request(id.unwrap_or_default(), "jsonrpc is not \"2.0\"");
    }
    match (id, message.method) {
        (None, Some(method)) => Ok(Incoming::Notification {
            method,
            params: message.params,
        }),
        (Some(id), Some(method)) => match request(id.clone(), method, message.params) {
            Ok(request) => Ok(Incoming::Request(request)),
            Err(fault) => Err((id, fault)),
        },
        (Some(_), None) => Ok(Incoming::Answer),
        (None, None) => no_request(Value::Null, "neither a request nor a notification"),
    }
}

fn request(id: Value, method: String, params: Value) -> Result<Request, Fault> {
    let params = match params {
        Value::Null => Map::new(),
        Value::Object(params) => params,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(Fault::new(PARAMETERS, "params is not an object"));
        }
    };
    let meta = |key| params.get("_meta").and_then(|meta| meta.get(key));
    let stateless = match meta(META_VERSION) {
        None => false,
        Some(version) if version == STATELESS_VERSION => {
            if !meta(META_CAPABILITIES).is_some_and(Value::is_object) {
                let message = format!("_meta lacks {META_CAPABILITIES}");
                return Err(Fault::new(PARAMETERS, message));
            }
            true
        }
        Some(version) if SESSION_VERSIONS.iter().any(|known| version == known) => false,
        Some(version) => {
            return Err(Fault {
                data: Some(json!({"requested": version, "supported": versions()})),
                ..Fault::new(NO_VERSION, "unsupported protocol version")
            });
        }
    };
    Ok(Request {
        id,
        method,
        params,
        stateless,
    })
}

/// All protocol versions, oldest first.
pub(crate) fn versions() -> Vec<&'static str> {
    let sessions = SESSION_VERSIONS.into_iter();
    sessions.chain([STATELESS_VERSION]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Value, i32) {
        let (id, fault) = read(line.as_bytes()).unwrap_err();
        (id, fault.code)
    }

    #[test]
    fn what_is_no_request_is_told_what_is_wrong_with_it() {
        assert_eq!(code("{"), (Value::Null, -32700));
        assert_eq!(code("[]"), (Value::Null, -32600));
        assert_eq!(code("5"), (Value::Null, -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0"}"#), (Value::Null, -32600));
        assert_eq!(code(r#"{"id":1,"method":"ping"}"#), (json!(1), -32600));
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
            (Value::Null, -32600)
        );
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}"#),
            (json!("a"), -32602)
        );
    }

    #[test]
    fn a_request_says_by_its_meta_which_protocol_it_is_of() {
        let of = |meta: Value| {
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"_meta": meta}});
            read(line.to_string().as_bytes())
        };
        let stateless = of(json!({META_VERSION: STATELESS_VERSION, META_CAPABILITIES: {}}));
        assert!(matches!(stateless, Ok(Incoming::Request(request)) if request.stateless));
        let session = of(json!({"progressToken": 1}));
        assert!(matches!(session, Ok(Incoming::Request(request)) if !request.stateless));
        let (_, fault) = of(json!({META_VERSION: STATELESS_VERSION})).unwrap_err();
        assert_eq!(fault.code, PARAMETERS);
        let (_, fault) = of(json!({META_VERSION: "2030-01-01"})).unwrap_err();
        assert_eq!(fault.code, NO_VERSION);
        assert_eq!(fault.data.unwrap()["requested"], "2030-01-01");
    }
}

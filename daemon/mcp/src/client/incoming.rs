//! What servers send, told apart.

use serde_json::{Map, Value};

use super::error::RpcError;

/// A message from a server.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// The answer to one of our requests.
    Response {
        /// Ours are numbers.
        id: i64,
        /// The result, or the error.
        outcome: Result<Value, RpcError>,
    },
    /// It asks something.
    Request {
        /// To be given back as it is.
        id: Value,
        /// What it asks for.
        method: String,
        /// With what.
        params: Map<String, Value>,
    },
    /// It tells something.
    Notification {
        /// What.
        method: String,
        /// With what.
        params: Map<String, Value>,
    },
}

/// The messages of one line or event: mostly one, several in a batch (which MCP had until 2025-06-18).
/// `None`: it is no message.
pub(crate) fn read(text: &[u8]) -> Option<Vec<Incoming>> {
    if !text.starts_with(b"{") && !text.starts_with(b"[") {
        return None;
    }
    let value = match serde_json::from_slice(text) {
        Ok(value) => value,
        // Better one wrong letter than an answer that never comes.
        Err(_) if std::str::from_utf8(text).is_err() => {
            serde_json::from_str(&String::from_utf8_lossy(text)).ok()?
        }
        Err(_) => return None,
    };
    if let Value::Array(items) = value {
        return items.into_iter().map(message).collect();
    }
    message(value).map(|message| vec![message])
}

fn message(value: Value) -> Option<Incoming> {
    let Value::Object(mut members) = value else {
        return None;
    };
    if members.get("jsonrpc")?.as_str() != Some("2.0") {
        return None;
    }
    let id = members.remove("id");
    if let Some(Value::String(method)) = members.remove("method") {
        let params = match members.remove("params") {
            Some(Value::Object(params)) => params,
            _ => Map::new(),
        };
        return Some(match id {
            Some(id) => Incoming::Request { id, method, params },
            None => Incoming::Notification { method, params },
        });
    }
    let id = number(&id?)?;
    let outcome = match (members.remove("error"), members.remove("result")) {
        (None | Some(Value::Null), Some(result)) => Ok(result),
        (Some(error), _) => Err(serde_json::from_value(error).unwrap_or_else(|_| RpcError {
            code: 0,
            message: "the server answered with an error that is none".to_owned(),
            data: None,
        })),
        (None, None) => return None,
    };
    Some(Incoming::Response { id, outcome })
}

/// Some servers give numbers back as strings or with a point.
fn number(id: &Value) -> Option<i64> {
    match id {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            #[expect(clippy::cast_possible_truncation, reason = "checked on the next line")]
            let whole = float as i64;
            #[expect(
                clippy::cast_precision_loss,
                clippy::float_cmp,
                reason = "an id that is not whole is none of ours"
            )]
            (whole as f64 == float).then_some(whole)
        }),
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whose answer a line is that cannot be read, as far as its beginning tells: JSON-RPC libraries write the id
/// before the result.
pub(crate) fn id_of(beginning: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(beginning);
    if !text.starts_with('{') || !text.contains("\"jsonrpc\"") {
        return None;
    }
    let head = text.split("\"result\"").next()?;
    let head = head.split("\"error\"").next()?;
    let (_, id) = head.split_once("\"id\"")?;
    let id = id.trim_start().strip_prefix(':')?.trim_start();
    let digits: String = id.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(text: &str) -> Option<Incoming> {
        read(text.as_bytes()).and_then(|mut all| all.pop())
    }

    #[test]
    fn answers_requests_and_notifications_are_told_apart() {
        let ok = |id, result| {
            Some(Incoming::Response {
                id,
                outcome: Ok(result),
            })
        };
        assert_eq!(
            one(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            ok(1, json!({}))
        );
        assert_eq!(
            one(r#"{"jsonrpc":"2.0","id":"7","result":null}"#),
            ok(7, Value::Null)
        );
        assert_eq!(
            one(r#"{"jsonrpc":"2.0","id":2.0,"error":null,"result":3}"#),
            ok(2, json!(3))
        );
        let error =
            one(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m","data":[1]}}"#);
        let expected = RpcError {
            code: -32602,
            message: "m".into(),
            data: Some(json!([1])),
        };
        assert_eq!(
            error,
            Some(Incoming::Response {
                id: 1,
                outcome: Err(expected)
            })
        );
        assert!(matches!(
            one(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#),
            Some(Incoming::Request { .. })
        ));
        assert!(matches!(
            one(r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#),
            Some(Incoming::Notification { .. })
        ));
    }

    #[test]
    fn what_is_no_message_is_noise() {
        for text in [
            "",
            "Starting…",
            "5",
            "{}",
            "{",
            "null",
            r#"{"level":"info","msg":"x"}"#,
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":{},"result":{}}"#,
            "[1]",
            "\u{0}",
        ] {
            assert_eq!(one(text), None, "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(one(&deep), None);
    }

    #[test]
    fn a_batch_is_several_messages_and_one_wrong_letter_is_no_loss() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","method":"m"}]"#;
        assert_eq!(read(batch.as_bytes()).unwrap().len(), 2);
        let mut text = br#"{"jsonrpc":"2.0","id":1,"result":{"t":"a?b"}}"#.to_vec();
        let place = text.iter().position(|byte| *byte == b'?').unwrap();
        text[place] = 0xFF;
        let read = read(&text).unwrap();
        assert_eq!(
            read[0],
            Incoming::Response {
                id: 1,
                outcome: Ok(json!({"t": "a\u{fffd}b"}))
            }
        );
    }

    #[test]
    fn the_beginning_of_an_answer_tells_whose_it_is() {
        assert_eq!(
            id_of(br#"{"jsonrpc":"2.0","id": 12,"result":{"te"#),
            Some(12)
        );
        assert_eq!(id_of(br#"{"jsonrpc":"2.0","result":{"id":12"#), None);
        assert_eq!(id_of(b"id: 12"), None);
    }
}

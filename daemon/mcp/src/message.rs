//! JSON-RPC messages as clients send them, and what to answer to those that are none.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, CustomRequest,
    ErrorData, GetExtensions, InputResponses, JsonObject, MetaObject, RequestId, RequestMetaObject,
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};

/// The longest message, in bytes, without its line end.
pub(crate) const MESSAGE_MAX: usize = 16 * 1024 * 1024;

/// Why a message cannot be taken, and whose it is as far as that can be read.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The id to answer; without one the answer's id is null (JSON-RPC 2.0 §5).
    id: Option<RequestId>,
    error: ErrorData,
}

impl Fault {
    /// Not JSON.
    pub(crate) fn parse(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            id: None,
            error: ErrorData::parse_error(message, None),
        }
    }

    /// JSON, but no message.
    pub(crate) fn request(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            id,
            error: ErrorData::invalid_request(message, None),
        }
    }

    /// Any other error as the answer to the request `id`.
    pub(crate) fn answer(id: Option<RequestId>, error: ErrorData) -> Self {
        Self { id, error }
    }

    /// Longer than [`MESSAGE_MAX`].
    pub(crate) fn too_long() -> Self {
        let mebibytes = MESSAGE_MAX / (1024 * 1024);
        Self::request(
            None,
            format!("the message is longer than {mebibytes} MiB; hand large data over in a file"),
        )
    }

    /// The JSON-RPC error response, without a line end.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let response = json!({"jsonrpc": "2.0", "id": self.id, "error": self.error});
        response.to_string().into_bytes()
    }
}

/// What a message is before its parameters are looked at.
#[derive(Debug)]
pub(crate) enum Kind {
    /// It wants an answer under this id.
    Request(RequestId),
    /// It wants none.
    Notification,
    /// It answers a request of ours.
    Response,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<String>,
    #[serde(default, borrow, deserialize_with = "even_null")]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    result: bool,
    #[serde(default, deserialize_with = "present")]
    error: bool,
}

/// A null that is there is not the same as nothing.
fn even_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// Checks that the text is one JSON-RPC message, without reading its parameters.
pub(crate) fn check(text: &[u8]) -> Result<Kind, Fault> {
    envelope(text).map(|(kind, _)| kind)
}

/// Reads one message. `None`: an answer to a request that was never sent.
pub(crate) fn parse(text: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Fault> {
    let (kind, envelope) = envelope(text)?;
    let id = match kind {
        Kind::Request(id) => Some(id),
        Kind::Notification => None,
        Kind::Response => return Ok(serde_json::from_slice(text).ok()),
    };
    if let (Some(id), Some("tools/call"), Some(params)) =
        (&id, envelope.method.as_deref(), envelope.params)
        && let Ok(params) = serde_json::from_str::<CallParams>(params.get())
    {
        return Ok(Some(params.into_message(id.clone())));
    }
    if let (Some(id), Some(LISTING)) = (&id, envelope.method.as_deref()) {
        let params = envelope.params.map_or("{}", RawValue::get);
        if let Ok(params) = serde_json::from_str(params) {
            return Ok(Some(listing(id.clone(), params)));
        }
    }
    match serde_json::from_slice(text) {
        Ok(message) => Ok(Some(message)),
        // A notification that is not understood is not answered.
        Err(_) if id.is_none() => Ok(None),
        Err(error) => Err(Fault::request(id, format!("not a request of MCP: {error}"))),
    }
}

/// The request whose answer is more than rmcp's types can hold: tools are listed as their servers list them.
pub(crate) const LISTING: &str = "tools/list";

/// Under this name a cursor is hidden from rmcp.
const HIDDEN: &str = "harness";

/// `tools/list` as a request that rmcp does not know.
fn listing(id: RequestId, mut params: JsonObject) -> ClientJsonRpcMessage {
    let meta = params.remove("_meta");
    let mut request = CustomRequest::new(LISTING, Some(Value::Object(params)));
    if let Some(Value::Object(meta)) = meta {
        let meta = RequestMetaObject(MetaObject(meta));
        request.extensions.insert(meta);
    }
    ClientJsonRpcMessage::request(ClientRequest::CustomRequest(request), id)
}

/// The same for a body that rmcp reads itself: with a cursor that it cannot read it takes the request for one that it
/// does not know. `None`: it is another request.
pub(crate) fn hide_listing(text: &[u8]) -> Option<Vec<u8>> {
    let (Kind::Request(_), envelope) = envelope(text).ok()? else {
        return None;
    };
    if envelope.method.as_deref() != Some(LISTING) {
        return None;
    }
    let mut message: Value = serde_json::from_slice(text).ok()?;
    let params = message
        .as_object_mut()?
        .entry("params")
        .or_insert_with(|| json!({}));
    let cursor = params["cursor"].take();
    params["cursor"] = json!({ HIDDEN: cursor });
    serde_json::to_vec(&message).ok()
}

/// The parameters of such a request as the client sent them.
pub(crate) fn shown_listing(params: Option<Value>) -> Value {
    let mut params = params.unwrap_or_else(|| json!({}));
    if let Some(hidden) = params.pointer_mut("/cursor/harness").map(Value::take)
        && let Some(members) = params.as_object_mut()
    {
        members.remove("cursor");
        if !hidden.is_null() {
            members.insert("cursor".to_owned(), hidden);
        }
    }
    params
}

fn envelope(text: &[u8]) -> Result<(Kind, Envelope<'_>), Fault> {
    let text = std::str::from_utf8(text)
        .map_err(|error| Fault::parse(format!("the message is not UTF-8: {error}")))?;
    if !text.starts_with('{') {
        return Err(match serde_json::from_str::<IgnoredAny>(text) {
            Err(error) => Fault::parse(format!("not JSON: {error}")),
            Ok(_) if text.starts_with('[') => Fault::request(
                None,
                "batches are not part of MCP since 2025-06-18; send each message by itself",
            ),
            Ok(_) => Fault::request(None, "a message is a JSON object"),
        });
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            Fault::request(id_of(text), format!("not a JSON-RPC 2.0 message: {error}"))
        } else {
            Fault::parse(format!("not JSON: {error}"))
        }
    })?;
    let kind = kind(&envelope)?;
    Ok((kind, envelope))
}

fn kind(envelope: &Envelope<'_>) -> Result<Kind, Fault> {
    let id = envelope.id.map(|id| serde_json::from_str(id.get()));
    let id = match id {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) if envelope.method.is_none() && envelope.error => None,
        Some(Err(_)) => {
            let message =
                "the id of a request is a string or a whole number; a notification has none";
            return Err(Fault::request(None, message));
        }
    };
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(Fault::request(id, r#"a message has "jsonrpc":"2.0""#));
    }
    let answer = envelope.result || envelope.error;
    match (&envelope.method, id) {
        (Some(_), id) if answer => Err(Fault::request(
            id,
            "a message has either a method, or a result or error",
        )),
        (Some(_), id) => {
            let object = envelope
                .params
                .is_none_or(|params| params.get().starts_with('{'));
            match id {
                Some(id) if !object => Err(Fault::answer(
                    Some(id),
                    ErrorData::invalid_params("params is a JSON object", None),
                )),
                Some(id) => Ok(Kind::Request(id)),
                None => Ok(Kind::Notification),
            }
        }
        (None, _) if answer => Ok(Kind::Response),
        (None, id) => Err(Fault::request(id, "a request has a method")),
    }
}

/// The id of a message that is no message otherwise.
fn id_of(text: &str) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Id {
        id: Option<serde_json::Value>,
    }
    let id = serde_json::from_str::<Id>(text).ok()?.id?;
    serde_json::from_value(id).ok()
}

/// The parameters of `tools/call`, read without trying other methods first.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams {
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    name: String,
    arguments: Option<JsonObject>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

impl CallParams {
    fn into_message(self, id: RequestId) -> ClientJsonRpcMessage {
        let mut params = CallToolRequestParams::new(self.name);
        params.arguments = self.arguments;
        params.input_responses = self.input_responses;
        params.request_state = self.request_state;
        let mut request = CallToolRequest::new(params);
        if let Some(meta) = self.meta {
            request
                .extensions_mut()
                .insert(RequestMetaObject(MetaObject(meta)));
        }
        ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request), id)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::GetMeta;
    use serde_json::Value;

    use super::*;

    fn fault(text: &str) -> Value {
        let fault = parse(text.as_bytes()).expect_err(text);
        serde_json::from_slice(&fault.to_json()).unwrap()
    }

    #[test]
    fn text_that_is_not_json_is_a_parse_error_with_a_null_id() {
        for text in [
            "garbage",
            "{",
            r#"{"jsonrpc":"2.0","id":1"#,
            "[1,",
            "\"\u{0}\"",
        ] {
            let answer = fault(text);
            assert_eq!(answer["error"]["code"], -32700, "{text}");
            assert_eq!(answer["id"], Value::Null, "{text}");
            assert!(answer.as_object().unwrap().contains_key("id"));
        }
    }

    #[test]
    fn json_that_is_no_message_is_an_invalid_request() {
        for (text, id) in [
            ("5", Value::Null),
            ("[]", Value::Null),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
            (r#"{"id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a")),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7)),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                Value::Null,
            ),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Value::Null),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
                json!(7),
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"id":7,"method":"ping"}"#,
                json!(7),
            ),
        ] {
            let answer = fault(text);
            assert_eq!(answer["error"]["code"], -32600, "{text}");
            assert!(answer["id"] == id || answer["id"].is_null(), "{text}");
        }
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#)["error"]["code"],
            -32602
        );
    }

    #[test]
    fn a_call_read_the_short_way_is_the_call_read_by_rmcp() {
        let text = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"run",
            "arguments":{"cmd":"a\u0000b","n":[1,2.5,null]},"_meta":{"progressToken":3,"k":"v"}}}"#;
        let short = parse(text.as_bytes()).unwrap().unwrap();
        let long: ClientJsonRpcMessage = serde_json::from_str(text).unwrap();
        let (ClientJsonRpcMessage::Request(short), ClientJsonRpcMessage::Request(long)) =
            (short, long)
        else {
            panic!("requests")
        };
        assert_eq!(short.id, long.id);
        assert_eq!(short.request.get_meta(), long.request.get_meta());
        assert_eq!(
            serde_json::to_value(&short.request).unwrap(),
            serde_json::to_value(&long.request).unwrap()
        );
    }

    #[test]
    fn a_nested_bomb_is_an_error_and_not_a_crash() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"x":{deep}}}}}}}"#
        );
        let answer = fault(&text);
        assert!(answer["error"]["code"].is_i64());
    }

    #[test]
    fn answers_and_unknown_notifications_are_let_pass_in_silence() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":[1]}"#,
        ] {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
    }
}

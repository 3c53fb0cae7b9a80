//! Server-sent events, as the HTML standard has them.

use std::convert::Infallible;

use axum::{
    body::{Body, Bytes},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::{Stream, StreamExt as _};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

/// One event: `id:`, `event:` and one line of JSON. No keep-alive comments are sent in between:
/// a client that goes away is noticed by its socket.
pub(super) fn frame(id: Option<&str>, event: &str, data: &impl Serialize) -> Bytes {
    let mut text = String::with_capacity(256);
    if let Some(id) = id {
        text.push_str("id: ");
        // A line end would begin another field.
        text.extend(id.chars().filter(|character| !character.is_control()));
        text.push('\n');
    }
    text.push_str("event: ");
    text.push_str(event);
    text.push_str("\ndata: ");
    // JSON of our own types has no map keys that are not text, so this cannot fail.
    text.push_str(
        &serde_json::to_string(data).unwrap_or_else(|error| json!(error.to_string()).to_string()),
    );
    text.push_str("\n\n");
    text.into()
}

/// A response that sends `frames` until they end. A comment comes first, so that the client has
/// bytes in hand as soon as its subscription stands.
pub(super) fn response(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let first = futures_util::stream::once(async { Bytes::from_static(b": open\n\n") });
    let body = Body::from_stream(first.chain(frames).map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// The OpenAPI response object of a stream of `T`.
pub(super) fn document<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    description: &str,
) -> (StatusCode, Value) {
    let schema = generator.subschema_for::<T>();
    let content = json!({ "schema": { "type": "string" }, "x-event-data": schema });
    (
        StatusCode::OK,
        json!({ "description": description, "content": { "text/event-stream": content } }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_in_data_or_id_begins_no_field() {
        let bytes = frame(Some("a\nevent: x"), "wake", &"1\n2\r3");
        assert_eq!(
            &bytes[..],
            b"id: aevent: x\nevent: wake\ndata: \"1\\n2\\r3\"\n\n"
        );
    }
}

//! The headers of streamable HTTP.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// `Mcp-Method` and `Mcp-Name`, by which intermediaries route requests of the 2026-07-28 protocol (SEP-2243).
pub(super) fn standard(headers: &mut HeaderMap, method: &str, params: &Map<String, Value>) {
    if let Ok(value) = HeaderValue::from_str(method) {
        headers.insert(METHOD, value);
    }
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return,
    };
    let name = params.get(member).and_then(Value::as_str);
    if let Some(Ok(value)) = name.map(|name| HeaderValue::from_str(&encoded(name))) {
        headers.insert(NAME, value);
    }
}

/// As it is where it can stand in a header, else in base64 between marks.
fn encoded(value: &str) -> String {
    let marked = value.starts_with("=?base64?") && value.ends_with("?=");
    let padded = value.starts_with(' ') || value.ends_with(' ');
    let plain = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte));
    if plain && !marked && !padded {
        return value.to_owned();
    }
    format!("=?base64?{}?=", base64(value.as_bytes()))
}

/// RFC 4648 §4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place > chunk.len() {
                text.push('=');
            } else {
                let digit = word >> (18 - 6 * place) & 63;
                text.push(char::from(ALPHABET[digit as usize]));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_stand_in_a_header_is_encoded() {
        for (name, value) in [
            ("search", "search"),
            ("", ""),
            ("größe", "=?base64?Z3LDtsOfZQ==?="),
            (" a", "=?base64?IGE=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(encoded(name), value, "{name:?}");
        }
    }
}

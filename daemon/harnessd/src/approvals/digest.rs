//! Names the exact call that a one-off answer is bound to.

use std::fmt::Write as _;

use harness_model::Call;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256 over tool, canonical input and working directory, in hexadecimal.
pub(super) fn digest(call: &Call, cwd: &str) -> String {
    let mut hash = Sha256::new();
    for part in [&call.group, &call.tool, cwd] {
        // The length before each part, so that no two calls read the same.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(canonical(&Value::Object(call.input.clone())));
    hex(&hash.finalize())
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// JSON with its keys in order, whatever order they came in.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<_> = object.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (place, (key, value)) in keys.into_iter().enumerate() {
                let comma = if place > 0 { "," } else { "" };
                let _infallible = write!(text, "{comma}{}:", Value::String(key.clone()));
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _infallible = write!(text, "{value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use harness_model::{CallId, Timestamp};
    use serde_json::json;

    use super::*;

    fn of(group: &str, tool: &str, input: &Value, cwd: &str) -> String {
        let call = Call {
            id: CallId::generate(),
            group: group.to_owned(),
            tool: tool.to_owned(),
            input: input.as_object().unwrap().clone(),
            started_at: Timestamp::default(),
            allowance: None,
        };
        digest(&call, cwd)
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let base = of(
            "shell",
            "shell",
            &json!({"cmd": "a", "env": {"x": "1", "y": "2"}}),
            "/w",
        );
        assert_eq!(
            base,
            of(
                "shell",
                "shell",
                &json!({"env": {"y": "2", "x": "1"}, "cmd": "a"}),
                "/w"
            )
        );
        for other in [
            of(
                "shell",
                "shell",
                &json!({"cmd": "a ", "env": {"x": "1", "y": "2"}}),
                "/w",
            ),
            of(
                "shell",
                "shell",
                &json!({"cmd": "a", "env": {"x": "12", "y": ""}}),
                "/w",
            ),
            of(
                "shell",
                "shell",
                &json!({"cmd": "a", "env": {"x": "1", "y": 2}}),
                "/w",
            ),
            of(
                "shell",
                "shell",
                &json!({"cmd": "a", "env": {"x": "1", "y": "2"}, "shell": "sh"}),
                "/w",
            ),
            of(
                "shell",
                "shell",
                &json!({"cmd": "a", "env": {"x": "1", "y": "2"}}),
                "/w/sub",
            ),
            of(
                "shells",
                "hell",
                &json!({"cmd": "a", "env": {"x": "1", "y": "2"}}),
                "/w",
            ),
        ] {
            assert_ne!(base, other);
        }
    }
}

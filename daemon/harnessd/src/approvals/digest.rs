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
    let mut input = String::new();
    canonical(&Value::Object(call.input.clone()), &mut input);
    hash.update(input);
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

/// JSON with its keys in order, whatever order they came in.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<_> = object.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in keys {
                let _infallible = write!(text, "{}:", Value::String(key.clone()));
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
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

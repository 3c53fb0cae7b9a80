//! What a plugin gave back, as the result of `tools/call`.

use serde_json::{Map, Value, json};

/// The keys of a `CallToolResult` that a plugin may set.
const KEYS: [&str; 4] = ["content", "structuredContent", "isError", "_meta"];

/// A result that says that the call has failed.
pub(crate) fn failed(message: &str) -> Value {
    json!({"content": [{"type": "text", "text": message}], "isError": true})
}

/// Reads the plugin's text; what is no result becomes one that says so.
pub(crate) fn read(text: &[u8]) -> Value {
    let wrong = |fault: &str| failed(&format!("the plugin gave no result of a tool: {fault}"));
    let given: Map<String, Value> = match serde_json::from_slice(text) {
        Ok(given) => given,
        Err(error) => return wrong(&error.to_string()),
    };
    let mut result: Map<String, Value> = given
        .into_iter()
        .filter(|(key, _)| KEYS.contains(&key.as_str()))
        .collect();
    match result.get("structuredContent") {
        None | Some(Value::Object(_)) => {}
        Some(_) => return wrong("structuredContent is not an object"),
    }
    match result.get("content") {
        Some(Value::Array(blocks)) => {
            if !blocks.iter().all(|block| block["type"].is_string()) {
                return wrong("a block of content has no type");
            }
        }
        Some(_) => return wrong("content is not an array"),
        None => {
            // Clients from before structured content read the text alone.
            let Some(structured) = result.get("structuredContent") else {
                return wrong("it has neither content nor structuredContent");
            };
            let text = structured.to_string();
            result.insert("content".into(), json!([{"type": "text", "text": text}]));
        }
    }
    let is_error = result.entry("isError").or_insert(Value::Bool(false));
    if !is_error.is_boolean() {
        return wrong("isError is neither true nor false");
    }
    Value::Object(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_passed_on_and_made_whole() {
        let given =
            json!({"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]});
        let result = read(given.to_string().as_bytes());
        assert_eq!(result["content"], given["content"]);
        assert_eq!(result["isError"], false);
        let result = read(br#"{"structuredContent": {"a": 1}, "resultType": "task"}"#);
        assert_eq!(result["content"][0]["text"], r#"{"a":1}"#);
        assert!(result.get("resultType").is_none());
    }

    #[test]
    fn what_is_no_result_becomes_one_that_says_so() {
        for text in [
            &b""[..],
            b"\xff",
            b"[]",
            b"{}",
            br#"{"content": 5}"#,
            br#"{"content": [{}]}"#,
            br#"{"content": [], "structuredContent": 5}"#,
            br#"{"content": [], "isError": 1}"#,
        ] {
            let result = read(text);
            assert_eq!(result["isError"], true, "{text:?}");
            let said = result["content"][0]["text"].as_str().unwrap();
            assert!(said.contains("no result of a tool"), "{said}");
        }
    }
}

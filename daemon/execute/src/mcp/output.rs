//! The result of a server's tool as the harness has it.

use harness_model::{Content, ToolOutput};
use serde_json::{Map, Value};

/// The `_meta` keys of a connection, not of what is said over it.
const OF_CONNECTION: &str = "io.modelcontextprotocol/";

/// Takes a result apart without losing anything of it.
pub(super) fn of(result: Value) -> ToolOutput {
    let Value::Object(mut rest) = result else {
        return ToolOutput {
            content: vec![Content::Other(result)],
            rest: Some(Map::new()),
            ..ToolOutput::default()
        };
    };
    // Which protocol its client speaks is the front's business.
    rest.remove("resultType");
    if let Some(Value::Object(meta)) = rest.get_mut("_meta") {
        meta.retain(|key, _| !key.starts_with(OF_CONNECTION));
        if meta.is_empty() {
            rest.remove("_meta");
        }
    }
    let content = match rest.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        Some(other) => vec![Content::Other(other)],
        None => Vec::new(),
    };
    ToolOutput {
        content,
        structured: rest.remove("structuredContent"),
        is_error: rest.get("isError").and_then(Value::as_bool) == Some(true),
        rest: Some(rest),
    }
}

/// Text that is nothing but text, or the block as it is.
fn block(block: Value) -> Content {
    match block {
        Value::Object(mut members) if members.len() == 2 && members["type"] == "text" => {
            match members.remove("text") {
                Some(Value::String(text)) => Content::Text { text },
                Some(other) => {
                    members.insert("text".to_owned(), other);
                    Content::Other(Value::Object(members))
                }
                None => Content::Other(Value::Object(members)),
            }
        }
        other @ (Value::Object(_)
        | Value::Array(_)
        | Value::String(_)
        | Value::Number(_)
        | Value::Bool(_)
        | Value::Null) => Content::Other(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_of_a_result_is_lost() {
        let annotated = json!({"type": "text", "text": "a", "annotations": {"priority": 1}});
        let output = of(json!({
            "content": [{"type": "text", "text": "t"}, annotated, {"type": "image", "data": "", "mimeType": "i"}],
            "structuredContent": null, "isError": true, "_meta": {"k": 1, "io.modelcontextprotocol/serverInfo": {}}, "resultType": "complete", "later": 2,
        }));
        assert_eq!(output.content[0], Content::Text { text: "t".into() });
        assert_eq!(output.content[1], Content::Other(annotated));
        assert_eq!(output.content.len(), 3);
        assert_eq!(output.structured, Some(Value::Null));
        assert!(output.is_error);
        let rest = json!({"isError": true, "_meta": {"k": 1}, "later": 2});
        assert_eq!(output.rest.map(Value::Object), Some(rest));
    }

    #[test]
    fn what_is_no_result_is_shown_as_it_is() {
        for odd in [
            json!(null),
            json!([1]),
            json!({"content": "text"}),
            json!({"content": [5, {"type": "text"}, {"text": 1}]}),
        ] {
            let output = of(odd);
            assert!(!output.is_error && output.rest.is_some());
        }
    }
}

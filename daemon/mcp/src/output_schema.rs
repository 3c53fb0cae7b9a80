//! Output schemas that also admit an error.
//!
//! A refused call answers `{"error":{…}}` as structured content. The TypeScript SDK, and with it
//! most agents, validates structured content against the tool's output schema even when the result
//! is an error, and then shows its user the mismatch instead of the message. So each output schema
//! is listed as "what the tool declares, or an error".

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

/// Keywords that only mean something at the root: references point there.
const ROOT_KEYWORDS: [&str; 3] = ["$schema", "$defs", "definitions"];

/// Widens the tool's output schema. Says whether structured errors are valid under the result: they
/// are not when the schema refers to its own root, which then would be another one.
pub(crate) fn admit_errors(tool: &mut Tool) -> bool {
    let Some(declared) = &tool.output_schema else {
        return true;
    };
    if refers_to_root(&Value::Object(JsonObject::clone(declared))) {
        return false;
    }
    let mut declared = JsonObject::clone(declared);
    let mut root = JsonObject::new();
    for keyword in ROOT_KEYWORDS {
        if let Some(value) = declared.remove(keyword) {
            root.insert(keyword.to_owned(), value);
        }
    }
    root.insert("type".to_owned(), json!("object"));
    root.insert("anyOf".to_owned(), json!([declared, error_schema()]));
    tool.output_schema = Some(Arc::new(root));
    true
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "retryable": {"type": "boolean"},
                },
                "required": ["code", "message", "retryable"],
            },
        },
        "required": ["error"],
        "additionalProperties": false,
    })
}

/// Whether it holds a reference that is not one to `$defs` or `definitions`, or an `$id` of its own.
fn refers_to_root(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| match (key.as_str(), value) {
                ("$ref" | "$dynamicRef", Value::String(target)) => {
                    !target.starts_with("#/$defs/") && !target.starts_with("#/definitions/")
                }
                ("$id" | "$anchor" | "$dynamicAnchor", Value::String(_)) => true,
                _ => refers_to_root(value),
            }),
        Value::Array(items) => items.iter().any(refers_to_root),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(schema: Value) -> Tool {
        let Value::Object(schema) = schema else {
            panic!("a schema is an object")
        };
        let mut tool = Tool::new("t", "", JsonObject::new());
        tool.output_schema = Some(Arc::new(schema));
        tool
    }

    #[test]
    fn a_declared_schema_is_one_branch_and_its_definitions_stay_at_the_root() {
        let mut tool = tool(json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "string"}},
        }));
        assert!(admit_errors(&mut tool));
        let schema = Value::Object(JsonObject::clone(&tool.output_schema.unwrap()));
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["$defs"]["A"]["type"], "string");
        assert_eq!(schema["anyOf"][0]["properties"]["a"]["$ref"], "#/$defs/A");
        assert_eq!(schema["anyOf"][1]["required"], json!(["error"]));
    }

    #[test]
    fn a_schema_that_refers_to_its_own_root_is_left_as_it_is() {
        for schema in [
            json!({"type": "object", "properties": {"child": {"$ref": "#"}}}),
            json!({"type": "object", "properties": {"b": {"$ref": "#/properties/a"}}}),
            json!({"$id": "urn:x", "type": "object"}),
        ] {
            let mut tool = tool(schema.clone());
            assert!(!admit_errors(&mut tool));
            assert_eq!(
                Value::Object(JsonObject::clone(&tool.output_schema.unwrap())),
                schema
            );
        }
    }

    #[test]
    fn a_tool_without_an_output_schema_gets_none() {
        let mut tool = Tool::new("t", "", JsonObject::new());
        assert!(admit_errors(&mut tool));
        assert!(tool.output_schema.is_none());
    }
}

//! Tools as clients see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Timestamp;

/// What a tool's author says of it (MCP `ToolAnnotations`). What is not said is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice is calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// Whether the author says nothing at all.
    #[must_use]
    pub fn are_silent(self) -> bool {
        self == Self::default()
    }
}

/// What the rater said of a tool whose author says nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRating {
    /// The tool's group.
    pub group: String,
    /// The tool's name.
    pub tool: String,
    /// Names the question: the rater's command, and all that it was told of the tool.
    pub digest: String,
    /// Whether the tool changes something.
    pub changes: bool,
    /// Why, in the rater's words; may be empty.
    pub reason: String,
    /// When it was said.
    pub rated_at: Timestamp,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// The group or MCP server it belongs to.
    pub group: String,
    /// Its name within the group.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its input, an object.
    pub input_schema: Value,
    /// The JSON Schema of its structured result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What its author says of it.
    pub annotations: Annotations,
    /// It stays a direct call where others move behind the command `tools`.
    pub direct: bool,
}

impl Tool {
    /// Its signature, as error messages show it: `run(cmd: string, name?: string)`.
    #[must_use]
    pub fn signature(&self) -> String {
        let required: Vec<&str> = self.input_schema["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let properties = self.input_schema["properties"].as_object();
        let mut parameters: Vec<(bool, String)> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| {
                let optional = !required.contains(&name.as_str());
                (
                    optional,
                    format!(
                        "{name}{}: {}",
                        if optional { "?" } else { "" },
                        type_of(schema)
                    ),
                )
            })
            .collect();
        parameters.sort_by_key(|(optional, _)| *optional);
        let words: Vec<String> = parameters.into_iter().map(|(_, word)| word).collect();
        format!("{}({})", self.name, words.join(", "))
    }
}

fn type_of(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let words: Vec<String> = values.iter().map(ToString::to_string).collect();
        return words.join("|");
    }
    match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let words: Vec<&str> = names
                .iter()
                .filter_map(Value::as_str)
                .filter(|name| *name != "null")
                .collect();
            words.join("|")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_signature_names_required_parameters_first() {
        let tool = Tool {
            group: "bash".into(),
            name: "run".into(),
            title: None,
            description: String::new(),
            input_schema: json!({
                "type": "object",
                "properties": {"a": {"type": ["integer", "null"]}, "cmd": {"type": "string"}, "m": {"enum": ["x", "y"]}},
                "required": ["cmd"],
            }),
            output_schema: None,
            annotations: Annotations::default(),
            direct: true,
        };
        assert_eq!(
            tool.signature(),
            r#"run(cmd: string, a?: integer, m?: "x"|"y")"#
        );
    }
}

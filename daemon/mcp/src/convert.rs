//! The nouns of the harness as rmcp's, and nothing else.

use std::sync::Arc;

use harness_model::{Content, ErrorCode, Refusal, Tool, ToolOutput};
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorData, JsonObject, Tool as McpTool, ToolAnnotations,
};
use serde_json::{Map, Value, json};

use crate::backend::Exposed;

/// Where a [`Refusal`]'s details hold the JSON-RPC error of an MCP server.
pub const FOREIGN_ERROR: &str = "jsonrpc_error";

/// A tool as `tools/list` shows it. The schema is copied: rmcp keeps its own.
pub(crate) fn tool(exposed: Exposed) -> McpTool {
    let Exposed {
        name,
        tool,
        original,
    } = exposed;
    if let Some(listed) = original.and_then(|original| foreign(&name, &original)) {
        return listed;
    }
    let Tool {
        title,
        description,
        input_schema,
        output_schema,
        annotations,
        ..
    } = tool.as_ref();
    let mut listed = McpTool::new(name, description.clone(), schema(input_schema));
    listed.title.clone_from(title);
    listed.output_schema = output_schema
        .as_ref()
        .map(|output| Arc::new(schema(output)));
    listed.annotations = Some(ToolAnnotations::from_raw(
        None,
        annotations.read_only_hint,
        annotations.destructive_hint,
        annotations.idempotent_hint,
        annotations.open_world_hint,
    ));
    listed
}

/// A tool of an MCP server as that server lists it, under the name of the view. `None`: it has a shape that
/// MCP does not know.
fn foreign(name: &str, original: &Map<String, Value>) -> Option<McpTool> {
    let mut members = original.clone();
    members.insert("name".to_owned(), name.into());
    serde_json::from_value(Value::Object(members)).ok()
}

/// MCP wants an object whose `type` says so.
fn schema(declared: &Value) -> JsonObject {
    let mut schema = declared.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| json!("object"));
    schema
}

/// What a tool gave back as the result of `tools/call`.
pub(crate) fn result(output: ToolOutput) -> CallToolResult {
    let ToolOutput {
        content,
        structured,
        is_error,
        rest,
    } = output;
    let mut result = CallToolResult::default();
    result.content = content.into_iter().map(block).collect();
    if let Some(mut rest) = rest {
        result.structured_content = structured;
        result.is_error = rest.get("isError").and_then(Value::as_bool);
        let meta = rest.remove("_meta");
        result.meta = meta.and_then(|meta| serde_json::from_value(meta).ok());
        return result;
    }
    // Clients from before structured content read the text alone.
    if result.content.is_empty()
        && let Some(structured) = &structured
    {
        result
            .content
            .push(ContentBlock::text(structured.to_string()));
    }
    result.structured_content = structured;
    result.is_error = Some(is_error);
    result
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        // What no MCP revision knows is shown to the model as the JSON it is.
        Content::Other(value) => serde_json::from_value(value.clone())
            .unwrap_or_else(|_| ContentBlock::text(value.to_string())),
    }
}

/// A refused call as a tool result that the model can read (SEP-1303).
pub(crate) fn refused(refusal: &Refusal, structured: bool) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(refusal.message.clone())]);
    result.structured_content = structured.then(|| refusal.to_json());
    result
}

/// The error that an MCP server answered a call with, as it came.
pub(crate) fn foreign_error(refusal: &Refusal) -> Option<ErrorData> {
    let error = refusal.details.as_ref()?.get(FOREIGN_ERROR)?;
    serde_json::from_value(error.clone()).ok()
}

/// A refusal of a request that has no tool result to put it into.
pub(crate) fn error(refusal: &Refusal) -> ErrorData {
    let message = refusal.message.clone();
    let data = Some(refusal.to_json());
    match refusal.code {
        ErrorCode::UnknownCommand
        | ErrorCode::InvalidInput
        | ErrorCode::Denied
        | ErrorCode::NeedsApproval
        | ErrorCode::CallLimit => ErrorData::invalid_params(message, data),
        ErrorCode::ToolError
        | ErrorCode::Stopped
        | ErrorCode::ConnectionRequired
        | ErrorCode::Unavailable
        | ErrorCode::OutcomeUnknown => ErrorData::internal_error(message, data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_stay_images_and_unknown_content_becomes_text() {
        let output = ToolOutput {
            content: vec![
                Content::Other(json!({"type": "image", "data": "AA==", "mimeType": "image/png"})),
                Content::Other(json!({"type": "hologram"})),
            ],
            ..ToolOutput::default()
        };
        let result = serde_json::to_value(result(output)).unwrap();
        assert_eq!(result["content"][0]["mimeType"], "image/png");
        assert_eq!(result["content"][1]["type"], "text");
        assert_eq!(result["content"][1]["text"], r#"{"type":"hologram"}"#);
    }

    #[test]
    fn structured_content_without_text_is_also_given_as_text() {
        let output = ToolOutput {
            structured: Some(json!({"a": 1})),
            ..ToolOutput::default()
        };
        let result = serde_json::to_value(result(output)).unwrap();
        assert_eq!(result["content"][0]["text"], r#"{"a":1}"#);
        assert_eq!(result["structuredContent"]["a"], 1);
    }
}

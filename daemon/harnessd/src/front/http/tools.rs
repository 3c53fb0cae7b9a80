//! Tools: what there is, and calls of any of them.

use axum::extract::RawPathParams;
use harness_model::{CallId, CallRequest, Tool, ToolOutput};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    parameters::{NoQuery, name_document, name_of},
    request::{Asked, PathParameter, RequestBody},
    response::{Found, Rejection},
    tasks::succeeded,
};

type Answered<T> = Result<Found<T>, Rejection>;

/// A tool's name: `GROUP__TOOL`, or a name that only one group has.
pub(super) struct ToolName(String);

impl PathParameter for ToolName {
    fn read(parameters: &RawPathParams) -> Result<Self, Rejection> {
        Ok(Self(name_of(parameters)))
    }

    fn document() -> Vec<Value> {
        vec![name_document(
            "The tool: `GROUP__TOOL`, or its name alone where only one group has it.",
        )]
    }
}

/// The input of a call; no body is an empty one. The gate checks it and shows the tool's signature.
pub(super) struct Input(Map<String, Value>);

impl RequestBody for Input {
    fn parse(bytes: &[u8]) -> Result<Self, Rejection> {
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(Map::new()));
        }
        serde_json::from_slice(bytes)
            .map(Self)
            .map_err(|error| Rejection::invalid(format!("body: {error}")))
    }

    fn document(_: &mut SchemaGenerator) -> Option<Value> {
        let schema =
            json!({ "type": "object", "description": "The input, as the tool's schema has it." });
        Some(json!({ "required": false, "content": { "application/json": { "schema": schema } } }))
    }
}

/// What else a call takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallOptions {
    /// An id of the caller's own making for this call, to know its events by: 12 characters of a-z and
    /// 0-9, never used before.
    #[serde(default)]
    id: Option<CallId>,
}

pub(super) async fn list(asked: Asked<(), NoQuery, ()>) -> Answered<Vec<Tool>> {
    Ok(Found(asked.control.tools().await?))
}

pub(super) async fn show(asked: Asked<ToolName, NoQuery, ()>) -> Answered<Tool> {
    Ok(Found(asked.control.tool(asked.path.0).await?))
}

pub(super) async fn call(asked: Asked<ToolName, CallOptions, Input>) -> Answered<ToolOutput> {
    let request = CallRequest {
        group: None,
        tool: asked.path.0,
        input: asked.body.0,
    };
    let mut context = asked.caller.context();
    context.call = asked.query.id;
    let delivery = context.delivery.clone();
    let output = succeeded(asked.control.call(request, context).await?)?;
    // Nobody learns whether a client of HTTP reads its answer.
    delivery.delivered();
    Ok(Found(output))
}

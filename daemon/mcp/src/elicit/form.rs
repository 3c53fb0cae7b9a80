//! The form: what is shown, what can be chosen, and what a reply means.

use harness_model::{Answer, Approval, Elicited, escape};
use rmcp::{
    ErrorData,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
        JsonObject,
    },
};
use serde_json::{Value, json};

/// The one field.
const FIELD: &str = "answer";

/// The request for one approval.
pub(super) fn request(approval: &Approval) -> Option<ElicitRequest> {
    let requested_schema = ElicitationSchema::from_json_schema(schema(approval))
        .map_err(|error| tracing::error!(%error, "the form of an approval is no form of MCP"))
        .ok()?;
    Some(ElicitRequest::new(
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message(approval),
            requested_schema,
        },
    ))
}

fn message(approval: &Approval) -> String {
    let (group, tool) = (escape::text(&approval.group), escape::text(&approval.tool));
    let id = approval.id;
    format!(
        "May {group}.{tool} run? (approval {id})\n{}",
        approval.card()
    )
}

/// One choice; without it, accepting is a yes to this call. `enum` alone is what every revision knows.
fn schema(approval: &Approval) -> JsonObject {
    let offered = approval.narrow_answers();
    let mut description = "allow: this exact call, once. reject: not this call.".to_owned();
    if offered.contains(&Answer::AllowAlways) {
        description.push_str(" allow_always, reject_always: all that \"always\" covers.");
    }
    let words: Vec<&str> = offered.iter().map(|answer| answer.as_str()).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            FIELD: {
                "type": "string",
                "title": "Answer",
                "description": description,
                "enum": words,
                "default": Answer::Allow.as_str(),
            },
        },
    });
    match schema {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            JsonObject::new()
        }
    }
}

/// The reply as the client sent it.
pub(super) fn parse(reply: &Value) -> Result<ElicitResult, ErrorData> {
    serde_json::from_value(reply.clone()).map_err(|error| {
        let message = format!(
            "inputResponses.{} is no result of elicitation/create: {error}",
            super::QUESTION
        );
        ErrorData::invalid_params(message, None)
    })
}

/// What a reply means; `None` when it accepts something that was not offered.
pub(super) fn meaning(reply: &ElicitResult, approval: &Approval) -> Option<Elicited> {
    match reply.action {
        ElicitationAction::Decline => Some(Elicited::Answer(Answer::Reject)),
        ElicitationAction::Cancel => Some(Elicited::Unanswered),
        ElicitationAction::Accept => {
            let chosen = reply
                .content
                .as_ref()
                .and_then(|content| content.get(FIELD));
            let Some(chosen) = chosen else {
                return Some(Elicited::Answer(Answer::Allow));
            };
            let offered = approval.narrow_answers().iter();
            let answer = offered.copied().find(|answer| chosen == answer.as_str());
            answer.map(Elicited::Answer)
        }
        _ => None,
    }
}

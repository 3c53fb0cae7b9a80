//! What is said to a hook, and what it says: one JSON object each way.

use harness_model::{
    Annotations, Call, CallContext, CallId, CallState, Content, Front, Outcome, Refusal, SessionId,
    Tool, ToolOutput,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{HookError, REASON};
use crate::{call::standing, config::schema::HookEvent};

/// What a hook reads. The names are those of the record of calls and of the events.
#[derive(Serialize)]
pub(super) struct Question<'a> {
    event: HookEvent,
    call: &'a CallId,
    parent: Option<&'a CallId>,
    session: &'a SessionId,
    front: Front,
    uid: Option<u32>,
    group: &'a str,
    tool: &'a str,
    annotations: Annotations,
    input: &'a Map<String, Value>,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Told<'a>>,
}

/// How a call went.
#[derive(Serialize)]
struct Told<'a> {
    state: CallState,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a ToolOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Refusal>,
}

impl<'a> Question<'a> {
    pub(super) fn new(
        event: HookEvent,
        tool: &'a Tool,
        call: &'a Call,
        context: &'a CallContext,
        cwd: String,
    ) -> Self {
        Self {
            event,
            call: &call.id,
            parent: context.parent.as_ref(),
            session: &context.session,
            front: context.front,
            uid: context.uid,
            group: &tool.group,
            tool: &tool.name,
            annotations: tool.annotations,
            input: &call.input,
            cwd,
            outcome: None,
        }
    }

    pub(super) fn after(mut self, outcome: &'a Outcome) -> Self {
        self.outcome = Some(Told {
            state: standing(outcome).0,
            result: outcome.as_ref().ok(),
            error: outcome.as_ref().err(),
        });
        self
    }

    /// One line.
    pub(super) fn bytes(&self) -> Vec<u8> {
        // Every key is a string, so it has a JSON form.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// What a hook says of a call's input or result.
#[derive(Debug)]
pub(super) enum Answer<T> {
    /// It stands.
    Allow,
    /// This instead.
    Rewrite(T),
    /// It goes no further, for this reason.
    Refuse(String),
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Before {
    #[default]
    Allow,
    Deny,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum After {
    #[default]
    Allow,
    Withhold,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct BeforeAnswer {
    decision: Before,
    reason: Option<String>,
    input: Option<Map<String, Value>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct AfterAnswer {
    decision: After,
    reason: Option<String>,
    result: Option<NewResult>,
}

/// A result that replaces all of the other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewResult {
    content: Vec<Content>,
    #[serde(default)]
    structured: Option<Value>,
    /// As with the other one, where it is not said.
    #[serde(default)]
    is_error: Option<bool>,
}

/// What a hook says of an input.
pub(super) fn before(answer: &[u8]) -> Result<Answer<Map<String, Value>>, HookError> {
    let answer: BeforeAnswer = parse(answer)?;
    match (answer.decision, answer.input) {
        (Before::Deny, None) => Ok(Answer::Refuse(because(answer.reason))),
        (Before::Deny, Some(_)) => Err(both("denies the call", "input")),
        (Before::Allow, input) => Ok(input.map_or(Answer::Allow, Answer::Rewrite)),
    }
}

/// What a hook says of an outcome.
pub(super) fn after(
    answer: &[u8],
    outcome: &Outcome,
    tool: &Tool,
) -> Result<Answer<ToolOutput>, HookError> {
    let answer: AfterAnswer = parse(answer)?;
    match (answer.decision, answer.result) {
        (After::Withhold, None) => Ok(Answer::Refuse(because(answer.reason))),
        (After::Withhold, Some(_)) => Err(both("withholds the result", "result")),
        (After::Allow, None) => Ok(Answer::Allow),
        (After::Allow, Some(new)) => {
            let failed = outcome.as_ref().map_or(true, |output| output.is_error);
            let output = ToolOutput {
                content: new.content,
                structured: new.structured,
                rest: None,
                is_error: new.is_error.unwrap_or(failed),
            };
            fits(&output, tool)?;
            Ok(Answer::Rewrite(output))
        }
    }
}

/// Nothing at all is an empty object.
fn parse<T: DeserializeOwned + Default>(answer: &[u8]) -> Result<T, HookError> {
    let text = std::str::from_utf8(answer);
    let text = text.map_err(|_| HookError::Answer("it is not UTF-8".to_owned()))?;
    if text.trim().is_empty() {
        return Ok(T::default());
    }
    // A sequence would be read as one, too.
    if !text.trim_start().starts_with('{') {
        return Err(HookError::Answer("it is no JSON object".to_owned()));
    }
    serde_json::from_str(text).map_err(|error| HookError::Answer(short(&error.to_string())))
}

fn both(what: &str, key: &str) -> HookError {
    HookError::Answer(format!(
        "it {what} and writes another `{key}`: do one of them"
    ))
}

fn because(reason: Option<String>) -> String {
    let reason = reason.unwrap_or_default();
    match reason.trim() {
        "" => "it gives no reason".to_owned(),
        reason => short(reason),
    }
}

fn short(text: &str) -> String {
    text.chars().take(REASON).collect()
}

/// Clients refuse a result that is not what the tool declares.
fn fits(output: &ToolOutput, tool: &Tool) -> Result<(), HookError> {
    let Some(schema) = tool.output_schema.as_ref().filter(|_| !output.is_error) else {
        return Ok(());
    };
    let Some(structured) = &output.structured else {
        return Err(HookError::Result("`structured` is missing".to_owned()));
    };
    let validator = jsonschema::validator_for(schema);
    // A schema that is none binds nobody.
    let error = validator.ok().and_then(|validator| {
        let error = validator.iter_errors(structured).next()?;
        Some(short(&error.to_string()))
    });
    error.map_or(Ok(()), |error| Err(HookError::Result(error)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(output_schema: Option<Value>) -> Tool {
        Tool {
            group: "bash".into(),
            name: "run".into(),
            title: None,
            description: String::new(),
            input_schema: json!({"type": "object"}),
            output_schema,
            annotations: Annotations::default(),
            direct: true,
        }
    }

    #[test]
    fn what_says_nothing_against_a_call_lets_it_through() {
        for answer in [
            "",
            " \n",
            "{}",
            r#"{"decision":"allow"}"#,
            r#"{"decision":"allow","reason":"fine"}"#,
        ] {
            let (outcome, answer) = (Ok(ToolOutput::default()), answer.as_bytes());
            assert!(matches!(before(answer), Ok(Answer::Allow)), "{answer:?}");
            let after = after(answer, &outcome, &tool(None));
            assert!(matches!(after, Ok(Answer::Allow)), "{after:?}");
        }
    }

    #[test]
    fn a_word_that_is_not_understood_is_an_error_and_no_yes() {
        for answer in [
            &b"yes"[..],
            b"null",
            b"[]",
            b"[\"deny\"]",
            b"{\"decision\":\"block\"}",
            b"{\"decison\":\"deny\"}",
            b"{\"decision\":\"deny\",\"decision\":\"allow\"}",
            b"{\"decision\":\"deny\"} {}",
            b"{\"reason\":5}",
            b"\xff\xfe",
            b"{\"reason\":\"\xff\"}",
            b"\0",
        ] {
            let text = String::from_utf8_lossy(answer);
            assert!(before(answer).is_err(), "{text}");
            let outcome = Ok(ToolOutput::default());
            assert!(after(answer, &outcome, &tool(None)).is_err(), "{text}");
        }
        assert!(before(br#"{"input":[1]}"#).is_err());
        assert!(before(br#"{"decision":"deny","input":{}}"#).is_err());
        assert!(before(br#"{"result":{"content":[]}}"#).is_err());
        for answer in [
            &br#"{"result":{}}"#[..],
            br#"{"result":{"content":[],"isError":true}}"#,
            br#"{"decision":"withhold","result":{"content":[]}}"#,
            br#"{"input":{}}"#,
        ] {
            assert!(after(answer, &Ok(ToolOutput::default()), &tool(None)).is_err());
        }
    }

    #[test]
    fn a_reason_is_cut_and_one_that_is_missing_is_said_so() {
        let long = format!(r#"{{"decision":"deny","reason":"{}"}}"#, "ü".repeat(5000));
        let reason = |answer: &str| match before(answer.as_bytes()) {
            Ok(Answer::Refuse(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(&long).chars().count(), REASON);
        let empty = r#"{"decision":"deny","reason":" "}"#;
        assert_eq!(reason(empty), "it gives no reason");
    }

    #[test]
    fn a_new_result_replaces_all_of_the_other_and_has_failed_if_that_has() {
        let answer = br#"{"result":{"content":[{"type":"text","text":"x"}]}}"#;
        let failed = ToolOutput {
            is_error: true,
            ..ToolOutput::new("secret", json!({"secret": 1}))
        };
        let refused = Err(Refusal::new(harness_model::ErrorCode::ToolError, "secret"));
        for (outcome, is_error) in [
            (Ok(ToolOutput::new("secret", json!({}))), false),
            (Ok(failed), true),
            (refused, true),
        ] {
            let Ok(Answer::Rewrite(output)) = after(answer, &outcome, &tool(None)) else {
                panic!("it is understood");
            };
            assert_eq!(output.text(), "x");
            assert_eq!((output.structured, output.is_error), (None, is_error));
        }
    }

    #[test]
    fn a_new_result_is_held_to_the_output_schema_unless_it_is_an_error() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let tool = tool(Some(schema));
        for (result, fits) in [
            (json!({"content": [], "structured": {"n": 1}}), true),
            (json!({"content": [], "structured": {"n": "1"}}), false),
            (json!({"content": []}), false),
            (json!({"content": [], "is_error": true}), true),
        ] {
            let answer = json!({ "result": result }).to_string();
            let outcome = Ok(ToolOutput::default());
            let answered = after(answer.as_bytes(), &outcome, &tool);
            assert_eq!(answered.is_ok(), fits, "{answer}");
        }
    }
}

//! Tasks: what acts on them goes through the gate as a call of the tool group `bash`.

use std::time::Duration;

use axum::{
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use futures_util::StreamExt as _;
use harness_model::{
    CallRequest, ErrorCode, OutputChunk, Page, Refusal, RunInput, Signal, Stream, TaskQuery,
    TaskStatus, ToolOutput, UnitId,
};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    backend::OutputStream,
    parameters::{NoQuery, OutputQuery, WaitQuery, limit},
    request::{Asked, Sent},
    response::{Answer, Created, Found, Rejection},
    sse,
};

type Answered<T> = Result<Found<T>, Rejection>;

pub(super) async fn list(asked: Asked<(), TaskQuery, ()>) -> Answered<Page<TaskStatus>> {
    let query = TaskQuery {
        limit: Some(limit(asked.query.limit)?),
        ..asked.query
    };
    Ok(Found(asked.control.tasks(query).await?))
}

/// The input of `run` as it came: the gate checks it and shows the tool's signature.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct RunBody(Map<String, Value>);

impl JsonSchema for RunBody {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        RunInput::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        RunInput::json_schema(generator)
    }
}

pub(super) async fn run(
    asked: Asked<(), NoQuery, Sent<RunBody>>,
) -> Result<Created<TaskStatus>, Rejection> {
    let Sent(RunBody(input)) = asked.body;
    let request = bash("run", input);
    let context = asked.caller.context();
    let delivery = context.delivery.clone();
    let output = succeeded(asked.control.call(request, context).await?)?;
    // Nobody learns whether a client of HTTP reads its answer.
    delivery.delivered();
    let structured = output.structured.unwrap_or_default();
    let body = match serde_json::from_value::<TaskStatus>(structured.clone()) {
        Ok(status) => status,
        // Still running: the tool names the task alone.
        Err(_) => {
            asked
                .control
                .task(started_id(&structured)?, Duration::ZERO)
                .await?
        }
    };
    Ok(Created {
        location: format!("/v1/tasks/{}", body.id),
        body,
    })
}

fn started_id(structured: &Value) -> Result<UnitId, Refusal> {
    let id = structured["id"].as_str().and_then(|id| id.parse().ok());
    id.ok_or_else(|| {
        let message = "the task was started, but its id is not in the result: look for it in the list of tasks";
        Refusal::new(ErrorCode::OutcomeUnknown, message)
    })
}

pub(super) async fn status(asked: Asked<UnitId, WaitQuery, ()>) -> Answered<TaskStatus> {
    let wait = asked.query.wait()?;
    Ok(Found(asked.control.task(asked.path, wait).await?))
}

pub(super) async fn stop(asked: Asked<UnitId, NoQuery, ()>) -> Answered<TaskStatus> {
    act(asked.path.clone(), "stop", Map::new(), asked).await
}

/// What `POST /v1/tasks/ID/signal` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignalBody {
    /// The signal, by name (`SIGTERM`, `term`) or number.
    signal: Signal,
}

pub(super) async fn signal(
    asked: Asked<UnitId, NoQuery, Sent<SignalBody>>,
) -> Answered<TaskStatus> {
    let signal = asked.body.0.signal.to_string();
    let input = Map::from_iter([("signal".to_owned(), signal.into())]);
    act(asked.path.clone(), "signal", input, asked).await
}

pub(super) async fn restart(asked: Asked<UnitId, NoQuery, ()>) -> Answered<TaskStatus> {
    let context = asked.caller.context();
    Ok(Found(
        asked.control.task_restart(asked.path, context).await?,
    ))
}

async fn act<P, Q, B>(
    id: UnitId,
    tool: &str,
    mut input: Map<String, Value>,
    asked: Asked<P, Q, B>,
) -> Answered<TaskStatus> {
    input.insert("id".to_owned(), id.as_str().into());
    succeeded(
        asked
            .control
            .call(bash(tool, input), asked.caller.context())
            .await?,
    )?;
    Ok(Found(asked.control.task(id, Duration::ZERO).await?))
}

fn bash(tool: &str, input: Map<String, Value>) -> CallRequest {
    CallRequest {
        group: Some("bash".to_owned()),
        tool: tool.to_owned(),
        input,
    }
}

/// A tool that ran and failed is an error on this wire.
pub(super) fn succeeded(output: ToolOutput) -> Result<ToolOutput, Refusal> {
    if !output.is_error {
        return Ok(output);
    }
    let refusal = Refusal::new(ErrorCode::ToolError, output.text());
    Err(match output.structured {
        Some(structured) => refusal.with_details(structured),
        None => refusal,
    })
}

/// A piece of output, or all that comes.
pub(super) enum OutputAnswer {
    Piece(OutputChunk),
    Follow(Box<Asked<UnitId, OutputQuery, ()>>, OutputStream),
}

pub(super) async fn output(
    asked: Asked<UnitId, OutputQuery, ()>,
) -> Result<OutputAnswer, Rejection> {
    let limit = asked.query.limit()?;
    let (id, stream) = (
        asked.path.clone(),
        asked.query.stream.unwrap_or(Stream::Stdout),
    );
    if !asked.query.follow {
        let piece = asked
            .control
            .task_output(id, stream, asked.query.offset, limit)
            .await?;
        return Ok(OutputAnswer::Piece(piece));
    }
    let offset = match &asked.last_event_id {
        None => asked.query.offset,
        Some(id) => id.parse().map_err(|_| {
            Rejection::invalid(format!(
                "Last-Event-ID {id:?} is not an offset: expected the id of an output event"
            ))
        })?,
    };
    let pieces = asked.control.task_follow(id, stream, offset).await?;
    Ok(OutputAnswer::Follow(Box::new(asked), pieces))
}

impl Answer for OutputAnswer {
    fn into_response(self) -> Response {
        match self {
            Self::Piece(piece) => axum::Json(piece).into_response(),
            Self::Follow(asked, pieces) => {
                let frames = pieces.map(|piece| match piece {
                    Ok(piece) => sse::frame(Some(&piece.next_offset.to_string()), "output", &piece),
                    Err(refusal) => sse::frame(None, "error", &refusal.to_json()),
                });
                sse::response(frames.take_until(asked.shutdown.cancelled_owned()))
            }
        }
    }

    fn document(generator: &mut SchemaGenerator) -> (StatusCode, Value) {
        let description = "A piece; with `follow`, events `output` whose id is the offset to resume from \
            with Last-Event-ID. The last has `eof`. An event `error` carries an error body.";
        let (status, mut response) = sse::document::<OutputChunk>(generator, description);
        response["content"]["application/json"] =
            json!({ "schema": generator.subschema_for::<OutputChunk>() });
        (status, response)
    }
}

//! MCP servers and plugins.

use axum::extract::RawPathParams;
use harness_model::{PluginLog, PluginStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    backend::PluginAction,
    parameters::{NoQuery, name_document, name_of},
    request::{Asked, PathParameter},
    response::{Found, Rejection},
};

/// How many lines of a log one answer has when nobody asks for a number, and at most.
const LINES: (u32, u32) = (100, 10_000);

type Answered<T> = Result<Found<T>, Rejection>;

/// The name of a server or plugin.
pub(super) struct PluginName(String);

impl PathParameter for PluginName {
    fn read(parameters: &RawPathParams) -> Result<Self, Rejection> {
        Ok(Self(name_of(parameters)))
    }

    fn document() -> Vec<Value> {
        vec![name_document("The name of the server or plugin.")]
    }
}

/// How much of a log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    /// How many lines from the end, default 100; more than 10000 is clamped.
    #[serde(default)]
    lines: Option<u32>,
}

pub(super) async fn list(asked: Asked<(), NoQuery, ()>) -> Answered<Vec<PluginStatus>> {
    Ok(Found(asked.control.plugins().await?))
}

pub(super) async fn status(asked: Asked<PluginName, NoQuery, ()>) -> Answered<PluginStatus> {
    Ok(Found(asked.control.plugin(asked.path.0).await?))
}

pub(super) async fn start(asked: Asked<PluginName, NoQuery, ()>) -> Answered<PluginStatus> {
    act(asked, PluginAction::Start).await
}

pub(super) async fn stop(asked: Asked<PluginName, NoQuery, ()>) -> Answered<PluginStatus> {
    act(asked, PluginAction::Stop).await
}

pub(super) async fn restart(asked: Asked<PluginName, NoQuery, ()>) -> Answered<PluginStatus> {
    act(asked, PluginAction::Restart).await
}

async fn act(
    asked: Asked<PluginName, NoQuery, ()>,
    action: PluginAction,
) -> Answered<PluginStatus> {
    Ok(Found(asked.control.plugin_act(asked.path.0, action).await?))
}

pub(super) async fn logs(asked: Asked<PluginName, LogQuery, ()>) -> Answered<PluginLog> {
    let lines = match asked.query.lines {
        Some(0) => return Err(Rejection::invalid("lines is 0: expected 1 to 10000")),
        lines => lines.unwrap_or(LINES.0).min(LINES.1),
    };
    Ok(Found(asked.control.plugin_log(asked.path.0, lines).await?))
}

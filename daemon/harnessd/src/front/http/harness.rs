//! The harness itself: status, reload, document.

use harness_model::HarnessStatus;
use serde_json::Value;

use super::{
    openapi,
    parameters::NoQuery,
    request::Asked,
    response::{Found, Rejection},
};

type Answered<T> = Result<Found<T>, Rejection>;

pub(super) async fn status(asked: Asked<(), NoQuery, ()>) -> Answered<HarnessStatus> {
    Ok(Found(asked.control.status().await?))
}

/// Answers with the status that holds after it.
pub(super) async fn reload(asked: Asked<(), NoQuery, ()>) -> Answered<HarnessStatus> {
    asked.control.reload().await?;
    Ok(Found(asked.control.status().await?))
}

pub(super) async fn document(_: Asked<(), NoQuery, ()>) -> Answered<Value> {
    Ok(Found(openapi::document()))
}

//! The record of calls.

use harness_model::{CallQuery, CallRecord, Page};

use super::{
    parameters::limit,
    request::Asked,
    response::{Found, Rejection},
};

pub(super) async fn list(
    asked: Asked<(), CallQuery, ()>,
) -> Result<Found<Page<CallRecord>>, Rejection> {
    let query = CallQuery {
        limit: Some(limit(asked.query.limit)?),
        ..asked.query
    };
    Ok(Found(asked.control.calls(query).await?))
}

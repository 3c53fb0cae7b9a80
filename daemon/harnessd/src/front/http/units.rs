//! Units of every kind.

use harness_model::{Invocation, Page, UnitId, UnitQuery, UnitStatus};

use super::{
    parameters::{LimitQuery, NoQuery, limit},
    request::Asked,
    response::{Found, Rejection},
};

type Answered<T> = Result<Found<T>, Rejection>;

pub(super) async fn list(asked: Asked<(), UnitQuery, ()>) -> Answered<Page<UnitStatus>> {
    let query = UnitQuery {
        limit: Some(limit(asked.query.limit)?),
        ..asked.query
    };
    Ok(Found(asked.control.units(query).await?))
}

pub(super) async fn status(asked: Asked<UnitId, NoQuery, ()>) -> Answered<UnitStatus> {
    Ok(Found(asked.control.unit(asked.path).await?))
}

pub(super) async fn invocations(asked: Asked<UnitId, LimitQuery, ()>) -> Answered<Vec<Invocation>> {
    let limit = limit(asked.query.limit)?;
    Ok(Found(asked.control.invocations(asked.path, limit).await?))
}

//! Wakes: reading them, taking delivery, acknowledging.

use harness_model::{Wake, WakeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    parameters::{LimitQuery, NoQuery, limit, wait},
    request::{Asked, Sent},
    response::{Found, Rejection},
};

type Answered<T> = Result<Found<T>, Rejection>;

pub(super) async fn list(asked: Asked<(), LimitQuery, ()>) -> Answered<Vec<Wake>> {
    let limit = limit(asked.query.limit)?;
    Ok(Found(asked.control.wakes(limit).await?))
}

/// What `POST /v1/wakes/recv` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiveBody {
    /// How many seconds to wait for the first; default 0, longer than 300 is clamped.
    #[serde(default)]
    #[schemars(range(min = 0))]
    wait_seconds: f64,
}

/// Not a GET: each answer counts as a delivery.
pub(super) async fn receive(asked: Asked<(), NoQuery, Sent<ReceiveBody>>) -> Answered<Vec<Wake>> {
    let wait = wait(asked.body.0.wait_seconds)?;
    Ok(Found(asked.control.wakes_recv(wait).await?))
}

/// What `POST /v1/wakes/ack` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AcknowledgeBody {
    /// The wakes' ids.
    ids: Vec<WakeId>,
}

/// Which wakes are gone now.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Acknowledged {
    /// Those of the ids that were due.
    acknowledged: Vec<WakeId>,
}

pub(super) async fn acknowledge(
    asked: Asked<(), NoQuery, Sent<AcknowledgeBody>>,
) -> Answered<Acknowledged> {
    let acknowledged = asked.control.wakes_ack(asked.body.0.ids).await?;
    Ok(Found(Acknowledged { acknowledged }))
}

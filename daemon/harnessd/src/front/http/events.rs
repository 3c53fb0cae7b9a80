//! The stream of events.

use axum::{http::StatusCode, response::Response};
use futures_util::StreamExt as _;
use harness_model::Event;
use schemars::SchemaGenerator;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    backend::EventStream,
    parameters::NoQuery,
    request::Asked,
    response::{Answer, Rejection},
    sse,
};

/// Events until the client or the daemon goes.
pub(super) struct Events {
    events: EventStream,
    shutdown: CancellationToken,
}

pub(super) async fn follow(asked: Asked<(), NoQuery, ()>) -> Result<Events, Rejection> {
    Ok(Events {
        events: asked.control.events(asked.last_event_id),
        shutdown: asked.shutdown,
    })
}

impl Answer for Events {
    fn into_response(self) -> Response {
        let frames = self
            .events
            .map(|(id, event)| sse::frame(Some(&id), event.body.name(), &*event));
        sse::response(frames.take_until(self.shutdown.cancelled_owned()))
    }

    fn document(generator: &mut SchemaGenerator) -> (StatusCode, Value) {
        let description = "Events as they happen, each with the id `BOOT-SEQ`; Last-Event-ID resumes after one. \
            What could not be kept for this reader is counted in an event `dropped`.";
        sse::document::<Event>(generator, description)
    }
}

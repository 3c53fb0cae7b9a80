//! What happens in the harness.

use harness_model::Event;
use serde_json::Value;

use crate::{Error, Result, subscription::Subscription};

/// One event. Events of a newer harness that are not known here keep their name and data.
#[derive(Debug, Clone, PartialEq)]
pub struct EventMessage {
    /// `BOOT-SEQ`: what a later subscription resumes after.
    pub id: Option<String>,
    /// Its name, such as `unit_changed`.
    pub name: String,
    /// It, as JSON.
    pub data: Value,
}

impl EventMessage {
    /// It in our own types, if it is of a kind known here.
    #[must_use]
    pub fn event(&self) -> Option<Event> {
        serde_json::from_value(self.data.clone()).ok()
    }
}

/// Events as they happen; made by [`Client::events`](crate::Client::events).
#[derive(Debug)]
pub struct Events(pub(crate) Subscription);

impl Events {
    /// The next event. Cancel safe. When the daemon restarts, the stream is resumed after the last
    /// one seen, and an event `dropped` says what is missing.
    ///
    /// # Errors
    /// The harness stayed away for a minute, or refused.
    pub async fn next(&mut self) -> Result<EventMessage> {
        let message = self.0.next().await?;
        let data = serde_json::from_str(&message.data).map_err(|source| Error::Decode {
            endpoint: format!("GET /v1/events ({})", message.event),
            source,
        })?;
        Ok(EventMessage {
            id: message.id,
            name: message.event,
            data,
        })
    }
}

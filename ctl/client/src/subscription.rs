//! A stream of server-sent events that is resumed when the daemon was restarted under it.

use std::{collections::VecDeque, path::PathBuf};

use harness_model::{ServerSentEvent, ServerSentReader};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::{
    Result,
    backoff::Backoff,
    transport::{Ask, open},
};

/// One event is no longer than this, in bytes.
const MAX_EVENT: usize = 16 << 20;

#[derive(Debug)]
pub(crate) struct Subscription {
    socket: PathBuf,
    target: String,
    last_event_id: Option<String>,
    connection: Option<(Incoming, ServerSentReader)>,
    arrived: VecDeque<ServerSentEvent>,
    backoff: Backoff,
}

impl Subscription {
    /// Connects at once: a harness that is not there is an error, not something to wait for.
    pub(crate) async fn open(
        socket: PathBuf,
        target: String,
        last_event_id: Option<String>,
    ) -> Result<Self> {
        let mut subscription = Self {
            socket,
            target,
            last_event_id,
            connection: None,
            arrived: VecDeque::new(),
            backoff: Backoff::new(),
        };
        subscription.connect().await?;
        Ok(subscription)
    }

    async fn connect(&mut self) -> Result<()> {
        let mut ask = Ask::get(self.target.clone());
        ask.last_event_id.clone_from(&self.last_event_id);
        let response = open(&self.socket, &ask).await?;
        self.connection = Some((response.into_body(), ServerSentReader::new(MAX_EVENT)));
        Ok(())
    }

    /// The next event. An end of the stream is resumed after the last id.
    ///
    /// Cancel safe: an event is taken from the queue in the last step.
    pub(crate) async fn next(&mut self) -> Result<ServerSentEvent> {
        loop {
            if let Some(message) = self.arrived.pop_front() {
                if let Some(id) = message.id.clone().filter(|id| !id.is_empty()) {
                    self.last_event_id = Some(id);
                }
                self.backoff.reset();
                return Ok(message);
            }
            if let Some((body, reader)) = &mut self.connection {
                if let Some(Ok(frame)) = body.frame().await {
                    if let Some(bytes) = frame.data_ref() {
                        self.arrived.extend(reader.push(bytes)?);
                    }
                    continue;
                }
                self.connection = None;
                self.backoff.rest().await;
            }
            if let Err(error) = self.connect().await {
                self.backoff.pause(error).await?;
            }
        }
    }
}

//! A task's output as it grows.

use harness_model::{OutputChunk, Refusal};
use serde::Deserialize;

use crate::{Error, Result, subscription::Subscription};

/// A stream of output; made by [`Client::follow`](crate::Client::follow).
#[derive(Debug)]
pub struct Follow {
    pub(crate) subscription: Subscription,
    pub(crate) ended: bool,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: Refusal,
}

impl Follow {
    /// The next piece, or `None` when the task has ended and all was read. Cancel safe. A restart of
    /// the daemon is survived without a gap: reading goes on at the offset reached.
    ///
    /// # Errors
    /// The harness stayed away for a minute, or refused.
    pub async fn next(&mut self) -> Result<Option<OutputChunk>> {
        while !self.ended {
            let message = self.subscription.next().await?;
            let decode = |source| Error::Decode {
                endpoint: "GET /v1/tasks/ID/output".to_owned(),
                source,
            };
            match message.event.as_str() {
                "output" => {
                    let chunk: OutputChunk = serde_json::from_str(&message.data).map_err(decode)?;
                    self.ended = chunk.eof;
                    return Ok(Some(chunk));
                }
                "error" => {
                    let body: ErrorBody = serde_json::from_str(&message.data).map_err(decode)?;
                    return Err(body.error.into());
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

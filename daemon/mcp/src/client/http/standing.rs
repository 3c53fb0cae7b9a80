//! The stream on which a server in a session says things of its own accord.

use std::{sync::Arc, time::Duration};

use harness_model::ServerSentReader;
use http_body_util::BodyExt as _;

use super::link::Link;
use crate::{
    client::error::{Cause, ClientError},
    message::MESSAGE_MAX,
};

/// The waits between two attempts, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Listens for as long as the server has such a stream.
pub(super) async fn listen(link: Arc<Link>) {
    let mut reader = ServerSentReader::new(MESSAGE_MAX);
    let mut wait = RETRY.0;
    loop {
        match link.get(reader.last_id()).await {
            Ok(response) => {
                wait = RETRY.0;
                let mut body = response.into_body();
                reader.begin_again();
                while let Some(Ok(frame)) = body.frame().await {
                    let bytes = frame.into_data().unwrap_or_default();
                    let Ok(events) = reader.push(&bytes) else {
                        break;
                    };
                    for event in events {
                        link.hand_over(event.data.as_bytes());
                    }
                }
            }
            // It has none, or the session is over.
            Err(
                ClientError::Answered(_)
                | ClientError::Unauthorized { .. }
                | ClientError::NotSent(Cause::Status { .. } | Cause::SessionGone),
            ) => return,
            Err(
                ClientError::NotSent(_) | ClientError::Lost(_) | ClientError::Unreadable { .. },
            ) => {
                wait = (wait * 2).min(RETRY.1);
            }
        }
        tokio::time::sleep(reader.retry().unwrap_or(wait).min(RETRY.1)).await;
    }
}

//! Streamable HTTP: a request each, answered with JSON or with a stream of events.

mod headers;
mod link;
mod standing;
mod target;
mod transport;

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::task::AbortHandle;

pub use self::target::{HttpTarget, TargetError};
use self::{link::Link, transport::Transport};
use super::{
    error::{Cause, ClientError},
    exchange::Exchange,
    request::{Request, cancellation},
    wire::Wire,
};

/// A server at an address.
pub(crate) struct Http {
    link: Arc<Link>,
    standing: Mutex<Option<AbortHandle>>,
}

impl Http {
    /// Connects with the first request.
    pub(crate) fn new(target: HttpTarget, exchange: Arc<Exchange>) -> Result<Self, ClientError> {
        let transport = Transport::to(&target)?;
        Ok(Self {
            link: Arc::new(Link::new(target, transport, exchange)),
            standing: Mutex::new(None),
        })
    }
}

/// A request whose answer has not come yet.
struct InFlight {
    link: Arc<Link>,
    id: i64,
    /// In a session the end of a response stream says nothing, and the server has to be told.
    tell: bool,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.link.exchange.forget(self.id) && self.tell {
            let (link, id) = (Arc::clone(&self.link), self.id);
            tokio::spawn(async move {
                if let Err(error) = link.tell(cancellation(id)).await {
                    tracing::debug!(%error, "a server was not told that a request was taken back");
                }
            });
        }
    }
}

impl Wire for Http {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Value, ClientError>> {
        Box::pin(async move {
            let answer = self.link.exchange.expect(request.id)?;
            let _in_flight = InFlight {
                link: Arc::clone(&self.link),
                id: request.id,
                tell: self.link.in_session(),
            };
            if let Some(report) = &request.report {
                let report = Arc::clone(report);
                self.link.exchange.watch_progress(request.id, report);
            }
            self.link.ask(&request, answer).await
        })
    }

    fn send(&self, message: Vec<u8>) -> BoxFuture<'_, Result<(), ClientError>> {
        Box::pin(self.link.tell(message))
    }

    fn agreed(&self, version: &str, stateless: bool) {
        self.link.agreed(version, stateless);
        if !stateless {
            let listening = tokio::spawn(standing::listen(Arc::clone(&self.link)));
            let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
            *standing = Some(listening.abort_handle());
        }
    }

    fn close(&self) {
        self.link.exchange.end(&Cause::Stopped);
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(standing) = &*standing {
            standing.abort();
        }
        if self.link.in_session() {
            let link = Arc::clone(&self.link);
            tokio::spawn(async move { link.end_session().await });
        }
    }
}

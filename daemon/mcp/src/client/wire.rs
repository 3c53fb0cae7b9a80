//! What a connection to a server is made of, whatever it runs over.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{error::ClientError, request::Request};

/// Carries messages to a server. What it receives goes to the [`Exchange`](super::exchange::Exchange).
pub(crate) trait Wire: Send + Sync + 'static {
    /// Sends a request and waits for its result. Dropping the future takes the request back.
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Value, ClientError>>;

    /// Sends a message that has no answer.
    fn send(&self, message: Vec<u8>) -> BoxFuture<'_, Result<(), ClientError>>;

    /// The protocol was agreed upon, and the client is ready.
    fn agreed(&self, version: &str, stateless: bool);

    /// Ends the connection.
    fn close(&self);
}

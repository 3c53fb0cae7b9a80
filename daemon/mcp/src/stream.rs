//! MCP as newline-delimited JSON-RPC on a byte stream: `mcp.sock`, and stdio by way of a bridge.
//!
//! Every line gets an answer or is a notification: what is not JSON gets -32700, what is no message
//! -32600. Nothing is unbounded: a line, the unanswered requests and what the client has not read.

mod deliveries;
mod lines;
mod opening;
mod outbox;
mod transport;

use std::{io, sync::Arc};

use rmcp::{model::ErrorData, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use self::transport::StreamTransport;
pub(crate) use self::{
    deliveries::Deliveries,
    lines::{Line, Lines},
    outbox::Outbox,
};
use crate::{
    backend::View,
    connection::{Connection, Origin},
    convert,
    error::Error,
    message::{self, Fault, Kind, MESSAGE_MAX},
    peer::Peer,
    server::Shared,
};

/// Serves one client until either side is done.
pub(crate) async fn serve<S>(shared: Arc<Shared>, stream: S, peer: Arc<dyn Peer>)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (read, write) = tokio::io::split(stream);
    let mut lines = Lines::new(read, MESSAGE_MAX);
    let outbox = Outbox::new(write);
    let (view, has_line) = match first_line(&mut lines, &outbox).await {
        Ok(Some(first)) => first,
        Ok(None) => return,
        Err(error) => return refuse(&mut lines, &outbox, error, false).await,
    };
    if let Err(refusal) = shared.catalogue().listing(&view) {
        return refuse(&mut lines, &outbox, Error::View(refusal), has_line).await;
    }
    let deliveries = Deliveries::default();
    let origin = Origin::Stream {
        peer,
        deliveries: deliveries.clone(),
    };
    let connection = Connection::new(shared, view, origin);
    let transport = StreamTransport::new(lines, outbox, deliveries, has_line);
    match rmcp::serve_server(connection, transport).await {
        Ok(running) => drop(running.waiting().await),
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => tracing::debug!(%error, "a client did not get as far as a session"),
    }
}

/// The view, and whether the reader holds a first message. `None`: the client left without a word.
async fn first_line<R, W>(
    lines: &mut Lines<R>,
    outbox: &Outbox<W>,
) -> Result<Option<(View, bool)>, Error>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    loop {
        match lines.next().await {
            Ok(Line::Text) if lines.text().is_empty() => lines.clear(),
            Ok(Line::Text) => break,
            Ok(Line::TooLong) => {
                let number = outbox.put(Fault::too_long().to_json());
                if outbox.sent(number).await.is_err() {
                    return Ok(None);
                }
            }
            Ok(Line::End) | Err(_) => return Ok(None),
        }
    }
    match opening::view(lines.text()) {
        None => Ok(Some((View::All, true))),
        Some(view) => {
            lines.clear();
            Ok(Some((view?, false)))
        }
    }
}

/// Answers the first request with the reason why there will be no session. A client that sends
/// anything else than a request is told at once.
async fn refuse<R, W>(lines: &mut Lines<R>, outbox: &Outbox<W>, error: Error, mut has_line: bool)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let id = loop {
        if !has_line && !matches!(lines.next().await, Ok(Line::Text)) {
            break None;
        }
        has_line = false;
        let kind = message::check(lines.text());
        lines.clear();
        match kind {
            Ok(Kind::Request(id)) => break Some(id),
            Ok(Kind::Notification | Kind::Response) => {}
            Err(_) => break None,
        }
    };
    let error: ErrorData = convert::error(&opening::refusal(error));
    outbox.put(Fault::answer(id, error).to_json());
    let closed: io::Result<()> = outbox.close().await;
    if let Err(error) = closed {
        tracing::debug!(%error, "a refused client did not wait for the reason");
    }
}

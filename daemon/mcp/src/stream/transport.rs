//! rmcp's transport over our lines and outbox.

use std::{collections::HashSet, future::pending, io, time::Duration};

use futures_util::future::{Either, ready};
use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomRequest, GetMeta,
        ProtocolVersion, RequestId, ServerJsonRpcMessage,
    },
    transport::Transport,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    deliveries::Deliveries,
    lines::{Line, Lines},
    outbox::Outbox,
};
use crate::{
    message::{self, Fault},
    request,
};

/// Requests that may be unanswered at once. At this many nothing more is read, cancellations
/// included, until one is answered.
const UNANSWERED_MAX: usize = 128;

/// How long a client that has closed its side may take to read the rest.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// One client's stream.
pub(crate) struct StreamTransport<R, W> {
    lines: Lines<R>,
    outbox: Outbox<W>,
    deliveries: Deliveries,
    /// The reader already holds a line: the first one, which was no harness line.
    has_line: bool,
    /// A lifecycle has begun: `initialize`, or a request of the stateless protocol.
    begun: bool,
    /// A fault was answered, and nobody but this transport sees to it that the answer gets out.
    owing: bool,
    unanswered: HashSet<RequestId>,
}

impl<R, W> StreamTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(
        lines: Lines<R>,
        outbox: Outbox<W>,
        deliveries: Deliveries,
        has_line: bool,
    ) -> Self {
        Self {
            lines,
            outbox,
            deliveries,
            has_line,
            begun: false,
            owing: false,
            unanswered: HashSet::new(),
        }
    }

    /// Reads on, unless too much is unanswered or unread; meanwhile what is owed goes out. rmcp drops
    /// the future whenever it has something else to do, so nothing may depend on its being kept.
    async fn next_line(&mut self) -> Option<Line> {
        loop {
            let congested = self.outbox.congested();
            let full = congested || self.unanswered.len() >= UNANSWERED_MAX;
            tokio::select! {
                biased;
                sent = self.outbox.all_sent(), if self.owing || congested => {
                    sent.ok()?;
                    self.owing = false;
                }
                line = self.lines.next(), if !full => return line.ok(),
                // rmcp asks again after each answer.
                else => pending().await,
            }
        }
    }

    /// The message in the reader's line; `Ok(None)` when there is nothing to hand on.
    fn take_message(&mut self) -> Result<Option<ClientJsonRpcMessage>, Fault> {
        let text = self.lines.text();
        if text.is_empty() {
            return Ok(None);
        }
        let Some(message) = message::parse(text)? else {
            return Ok(None);
        };
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                self.begin(&request.request, &request.id)?;
                if !self.unanswered.insert(request.id.clone()) {
                    // Under that id the client would take it for the answer to the first one.
                    let message = format!("the request id {} is in use", request.id);
                    return Err(Fault::request(None, message));
                }
            }
            // rmcp ends the connection when it sees one of these before a lifecycle has begun.
            ClientJsonRpcMessage::Notification(_)
            | ClientJsonRpcMessage::Response(_)
            | ClientJsonRpcMessage::Error(_)
                if !self.begun =>
            {
                return Ok(None);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // rmcp drops the answer to it.
                    self.unanswered.remove(id);
                    drop(self.deliveries.take(id));
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        Ok(Some(message))
    }

    /// Lets `initialize`, `ping` and requests of the stateless protocol come first, and no other.
    fn begin(&mut self, request: &ClientRequest, id: &RequestId) -> Result<(), Fault> {
        if self.begun || matches!(request, ClientRequest::PingRequest(_)) {
            return Ok(());
        }
        let meta = request.get_meta();
        let stateless = meta.protocol_version().is_some_and(|version| {
            ProtocolVersion::KNOWN_VERSIONS.contains(&version)
                && meta
                    .missing_required_keys(&ProtocolVersion::V_2026_07_28)
                    .is_empty()
        });
        let initialize = matches!(request, ClientRequest::InitializeRequest(_));
        let discover = matches!(request, ClientRequest::DiscoverRequest(_));
        self.begun = initialize || (stateless && !discover);
        // What names a protocol version but lacks the rest is answered by rmcp.
        if self.begun || discover || meta.protocol_version().is_some() {
            return Ok(());
        }
        if let ClientRequest::CustomRequest(CustomRequest { method, params, .. }) = request
            && method == "initialize"
        {
            return Err(Fault::answer(
                Some(id.clone()),
                request::unreadable(method, params.clone()),
            ));
        }
        let message = "this connection is not initialized; send initialize first, or the _meta of protocol 2026-07-28 with each request";
        Err(Fault::request(Some(id.clone()), message))
    }
}

impl<R, W> Transport<RoleServer> for StreamTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    /// Queues the message at once, so that messages leave in the order of the calls, and writes it
    /// at once if the client can take it: that saves waking a task for it.
    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &item {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        let delivery = answered.and_then(|id| {
            self.unanswered.remove(id);
            self.deliveries.take(id)
        });
        let line = match serde_json::to_vec(&item) {
            Ok(line) => line,
            Err(error) => return Either::Left(ready(Err(error.into()))),
        };
        let number = self.outbox.put(line);
        if self.outbox.try_send(number) {
            if let Some(delivery) = delivery {
                delivery.delivered();
            }
            return Either::Left(ready(Ok(())));
        }
        let outbox = self.outbox.clone();
        Either::Right(async move {
            outbox.sent(number).await?;
            if let Some(delivery) = delivery {
                delivery.delivered();
            }
            Ok(())
        })
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let taken = if self.has_line {
                self.has_line = false;
                self.take_message()
            } else {
                match self.next_line().await? {
                    Line::Text => self.take_message(),
                    Line::TooLong => Err(Fault::too_long()),
                    Line::End => return None,
                }
            };
            self.lines.clear();
            match taken {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(fault) => {
                    let number = self.outbox.put(fault.to_json());
                    self.owing |= !self.outbox.try_send(number);
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        match tokio::time::timeout(CLOSE_TIMEOUT, self.outbox.close()).await {
            Ok(closed) => closed,
            Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

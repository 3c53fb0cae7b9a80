//! Requests and their answers.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use harness_model::ServerSentReader;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{
    Method, Request as HttpRequest, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{
    headers::{self, LAST_EVENT, SESSION, VERSION},
    target::HttpTarget,
    transport::Transport,
};
use crate::{
    client::{
        connect::STATELESS,
        error::{Cause, ClientError, RpcError},
        exchange::Exchange,
        request::Request,
    },
    message::MESSAGE_MAX,
};

/// A stream that breaks off is resumed so many times without anything new in it.
const RESUMES: u32 = 5;

/// The wait before that, unless the server says another.
const RETRY: Duration = Duration::from_secs(1);

type Answer = oneshot::Receiver<Result<Value, ClientError>>;

/// What was agreed upon with the server.
#[derive(Default)]
struct Agreed {
    version: Option<HeaderValue>,
    stateless: bool,
    session: Option<HeaderValue>,
}

pub(super) struct Link {
    target: HttpTarget,
    transport: Transport,
    pub(super) exchange: Arc<Exchange>,
    agreed: RwLock<Agreed>,
}

impl Link {
    pub(super) fn new(target: HttpTarget, transport: Transport, exchange: Arc<Exchange>) -> Self {
        Self {
            target,
            transport,
            exchange,
            agreed: RwLock::default(),
        }
    }

    pub(super) fn agreed(&self, version: &str, stateless: bool) {
        let mut agreed = self.agreed.write().unwrap_or_else(PoisonError::into_inner);
        agreed.version = HeaderValue::from_str(version).ok();
        agreed.stateless = stateless;
    }

    /// Whether the server counts on being told what a closed connection would not say.
    pub(super) fn in_session(&self) -> bool {
        let agreed = self.agreed.read().unwrap_or_else(PoisonError::into_inner);
        agreed.version.is_some() && !agreed.stateless
    }

    fn head(&self, method: Method) -> hyper::http::request::Builder {
        let agreed = self.agreed.read().unwrap_or_else(PoisonError::into_inner);
        let mut builder = HttpRequest::builder()
            .method(method)
            .uri(self.target.uri.clone());
        if let Some(headers) = builder.headers_mut() {
            headers.extend(self.target.headers.iter().cloned());
            headers.extend(agreed.version.clone().map(|version| (VERSION, version)));
            headers.extend(agreed.session.clone().map(|session| (SESSION, session)));
        }
        builder
    }

    /// Posts a message. `add` sets the headers that depend on it.
    async fn post(
        &self,
        message: Vec<u8>,
        add: impl FnOnce(&mut HeaderMap),
    ) -> Result<Response<Incoming>, ClientError> {
        let mut builder = self.head(Method::POST);
        if let Some(headers) = builder.headers_mut() {
            let both = HeaderValue::from_static("application/json, text/event-stream");
            headers.insert(ACCEPT, both);
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            add(headers);
        }
        let request = builder.body(Full::new(Bytes::from(message)));
        let request = request.map_err(|_| ClientError::Unreadable {
            what: "no request can be made for it",
        })?;
        let response = self.transport.send(request).await;
        if let Err(ClientError::NotSent(cause)) = &response {
            self.exchange.fade(cause.clone());
        }
        response
    }

    /// Opens the stream of what the server says of its own accord, or goes on with one that broke off.
    pub(super) async fn get(
        &self,
        last_event: Option<&str>,
    ) -> Result<Response<Incoming>, ClientError> {
        let mut builder = self.head(Method::GET);
        if let Some(headers) = builder.headers_mut() {
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
            if let Some(Ok(id)) = last_event.map(HeaderValue::from_str) {
                headers.insert(LAST_EVENT, id);
            }
        }
        let request = builder.body(Full::new(Bytes::new()));
        let request = request.map_err(|_| ClientError::Unreadable {
            what: "no request can be made for it",
        })?;
        let response = self.transport.send(request).await?;
        if response.status() == StatusCode::OK && is(&response, "text/event-stream") {
            return Ok(response);
        }
        Err(self.refused(response).await)
    }

    /// Ends the session, if the server can do that.
    pub(super) async fn end_session(&self) {
        if let Ok(request) = self.head(Method::DELETE).body(Full::new(Bytes::new())) {
            // Without it the session ends when the server is tired of it.
            drop(self.transport.send(request).await);
        }
    }

    /// Sends a message that has no answer.
    pub(super) async fn tell(&self, message: Vec<u8>) -> Result<(), ClientError> {
        let response = self.post(message, |_| {}).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(self.refused(response).await)
    }

    /// Sends a request and waits for its answer, which is read from its response.
    pub(super) async fn ask(
        self: &Arc<Self>,
        request: &Request,
        mut answer: Answer,
    ) -> Result<Value, ClientError> {
        let stateless = request.method == "server/discover" || !self.in_session();
        let response = self
            .post(request.to_json(), |headers| {
                if stateless && request.method != "initialize" {
                    headers::standard(headers, &request.method, &request.params);
                    headers.insert(VERSION, HeaderValue::from_static(STATELESS));
                }
            })
            .await?;
        if response.status() != StatusCode::OK {
            return Err(self.refused(response).await);
        }
        if request.method == "initialize"
            && let Some(session) = response.headers().get(SESSION)
        {
            let mut agreed = self.agreed.write().unwrap_or_else(PoisonError::into_inner);
            agreed.session = Some(session.clone());
        }
        if is(&response, "text/event-stream") {
            return self.follow(response.into_body(), answer).await;
        }
        let body = read(response.into_body()).await?;
        self.hand_over(&body);
        answer.try_recv().unwrap_or(Err(ClientError::Unreadable {
            what: "it is not the answer to the request",
        }))
    }

    /// Reads a stream until the answer comes, resuming it where that is possible.
    async fn follow(
        self: &Arc<Self>,
        mut body: Incoming,
        mut answer: Answer,
    ) -> Result<Value, ClientError> {
        let mut reader = ServerSentReader::new(MESSAGE_MAX);
        let mut attempts = 0;
        loop {
            let seen = reader.last_id().map(str::to_owned);
            if let Some(outcome) = self
                .read_events(&mut body, &mut reader, &mut answer)
                .await?
            {
                return outcome;
            }
            attempts = if reader.last_id() == seen.as_deref() {
                attempts + 1
            } else {
                1
            };
            loop {
                let Some(last) = reader
                    .last_id()
                    .map(str::to_owned)
                    .filter(|_| attempts <= RESUMES)
                else {
                    return Err(ClientError::Lost(Cause::StreamEnded));
                };
                tokio::time::sleep(reader.retry().unwrap_or(RETRY)).await;
                match self.get(Some(&last)).await {
                    Ok(response) => break body = response.into_body(),
                    Err(_) => attempts += 1,
                }
            }
            reader.begin_again();
        }
    }

    /// `None`: the stream ended, and the answer was not in it.
    async fn read_events(
        self: &Arc<Self>,
        body: &mut Incoming,
        reader: &mut ServerSentReader,
        answer: &mut Answer,
    ) -> Result<Option<Result<Value, ClientError>>, ClientError> {
        loop {
            let frame = tokio::select! {
                biased;
                // It may come on another stream.
                outcome = &mut *answer => {
                    return Ok(Some(outcome.unwrap_or(Err(ClientError::Lost(Cause::Closed)))));
                }
                frame = body.frame() => frame,
            };
            let Some(Ok(frame)) = frame else {
                return Ok(None);
            };
            let bytes = frame.into_data().unwrap_or_default();
            let events = reader.push(&bytes).map_err(|_| ClientError::Unreadable {
                what: "it is longer than a message may be",
            })?;
            for event in events {
                self.hand_over(event.data.as_bytes());
            }
        }
    }

    /// Takes what came in, and answers what the server asks.
    pub(super) fn hand_over(self: &Arc<Self>, text: &[u8]) {
        let answers = self.exchange.receive(text.trim_ascii());
        for answer in answers.unwrap_or_default() {
            let link = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = link.tell(answer).await {
                    tracing::debug!(%error, "a server did not take an answer");
                }
            });
        }
    }

    /// What a status other than success means.
    async fn refused(&self, response: Response<Incoming>) -> ClientError {
        let status = response.status();
        let session = {
            let agreed = self.agreed.read().unwrap_or_else(PoisonError::into_inner);
            agreed.session.is_some()
        };
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return ClientError::Unauthorized {
                status: status.as_u16(),
            };
        }
        if status == StatusCode::NOT_FOUND && session {
            self.exchange.fade(Cause::SessionGone);
            return ClientError::NotSent(Cause::SessionGone);
        }
        let body = read(response.into_body()).await.unwrap_or_default();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        if let Ok(error) = serde_json::from_value::<RpcError>(message["error"].clone()) {
            return ClientError::Answered(error);
        }
        let text = String::from_utf8_lossy(&body);
        let detail: String = text.trim().chars().take(200).collect();
        let detail = if detail.is_empty() {
            detail
        } else {
            format!(": {detail}")
        };
        let cause = Cause::Status {
            status: status.as_u16(),
            detail,
        };
        // A server that fails may have begun; one that turns a request away has not.
        if status.is_server_error() && status != StatusCode::SERVICE_UNAVAILABLE {
            ClientError::Lost(cause)
        } else {
            ClientError::NotSent(cause)
        }
    }
}

fn is(response: &Response<Incoming>, kind: &str) -> bool {
    let value = response.headers().get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = value.split(';').next().unwrap_or("").trim();
    essence.eq_ignore_ascii_case(kind)
}

async fn read(body: Incoming) -> Result<Bytes, ClientError> {
    match Limited::new(body, MESSAGE_MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ClientError::Unreadable {
            what: "it is longer than a message may be",
        }),
        Err(_) => Err(ClientError::Lost(Cause::StreamEnded)),
    }
}

//! The listeners: one connection after the other is judged, then served.

use std::{convert::Infallible, future::poll_fn, io, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{HeaderValue, Request, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use harness_model::{ErrorCode, Refusal, SessionId};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, UnixListener},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    backend::Control,
    guard::Guard,
    request::{Api, Caller},
    table,
};
use crate::{
    config::Token,
    front::authority::{Authority, PeerCredentials},
};

/// How long answers under way may take after the shutdown began.
pub const DRAIN: Duration = Duration::from_secs(5);

/// How long a client may take to send the head of a request, idle time between two included.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The same for a peer that is refused anyway.
const REFUSED_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a client that was let in just before the shutdown may take to ask for something: it
/// gets its answer, as those do whom systemd keeps waiting for the next daemon.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Connections at once: of those who may speak, and of those who may not.
const ADMITTED_LIMIT: usize = 512;
const REFUSED_LIMIT: usize = 16;

/// After accept(2) failed, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Serves the person's side until `shutdown`.
#[derive(Clone)]
pub struct ControlServer {
    router: Router,
    shutdown: CancellationToken,
    admitted: Arc<Semaphore>,
    refused: Arc<Semaphore>,
}

impl ControlServer {
    /// A server for any number of listeners.
    #[must_use]
    pub fn new(control: Arc<dyn Control>, shutdown: CancellationToken) -> Self {
        let api = Api {
            control,
            shutdown: shutdown.clone(),
        };
        Self {
            router: table::router(api),
            shutdown,
            admitted: Arc::new(Semaphore::new(ADMITTED_LIMIT)),
            refused: Arc::new(Semaphore::new(REFUSED_LIMIT)),
        }
    }

    /// Serves `control.sock`. Returns once `shutdown` was cancelled and answers under way were
    /// sent, at most [`DRAIN`] later.
    pub async fn serve_unix(&self, listener: UnixListener, authority: Arc<dyn Authority>) {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = self.shutdown.cancelled() => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let guard = judge(&*authority, PeerCredentials::of(&stream));
                    self.spawn(&mut connections, stream, guard);
                }
                Err(error) => pause(&error).await,
            }
        }
        drop(listener);
        drain(connections).await;
    }

    /// Serves `[control] listen`; each request must show `token`. Ends like [`Self::serve_unix`].
    pub async fn serve_tcp(&self, listener: TcpListener, token: Token) {
        let token = Arc::new(token);
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = self.shutdown.cancelled() => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted.and_then(|(stream, _)| Ok((stream.local_addr()?, stream))) {
                Ok((local, stream)) => {
                    let caller = Caller {
                        session: SessionId::generate(),
                        uid: None,
                    };
                    let guard = Guard::Token {
                        caller,
                        token: Arc::clone(&token),
                        local: local.ip(),
                    };
                    self.spawn(&mut connections, stream, guard);
                }
                Err(error) => pause(&error).await,
            }
        }
        drop(listener);
        drain(connections).await;
    }

    fn spawn<I>(&self, connections: &mut JoinSet<()>, stream: I, guard: Guard)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (slots, head_timeout) = match &guard {
            Guard::Admitted(_) | Guard::Token { .. } => (&self.admitted, HEAD_TIMEOUT),
            Guard::Refused(_) => (&self.refused, REFUSED_TIMEOUT),
        };
        let Ok(slot) = Arc::clone(slots).try_acquire_owned() else {
            tracing::warn!("too many control connections at once: one was closed");
            return;
        };
        let (router, shutdown) = (self.router.clone(), self.shutdown.clone());
        connections.spawn(async move {
            serve_connection(stream, router, guard, head_timeout, shutdown).await;
            drop(slot);
        });
    }
}

fn judge(authority: &dyn Authority, peer: io::Result<PeerCredentials>) -> Guard {
    let peer = match peer {
        Ok(peer) => peer,
        Err(error) => {
            let message = format!("the caller is not known: {error}");
            return Guard::Refused(Refusal::new(ErrorCode::Denied, message));
        }
    };
    match authority.may(&peer) {
        Ok(()) => Guard::Admitted(Caller {
            session: SessionId::generate(),
            uid: Some(peer.uid),
        }),
        Err(refusal) => {
            tracing::warn!(
                pid = peer.pid,
                uid = peer.uid,
                "control connection refused: {refusal}"
            );
            Guard::Refused(refusal)
        }
    }
}

async fn serve_connection<I>(
    stream: I,
    router: Router,
    guard: Guard,
    head_timeout: Duration,
    shutdown: CancellationToken,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let keep_alive = !matches!(guard, Guard::Refused(_));
    let asked = CancellationToken::new();
    let service = service_fn(|request| {
        asked.cancel();
        answer(&router, &guard, request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .keep_alive(keep_alive)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let idle = async {
        shutdown.cancelled().await;
        // Either way the connection ends.
        tokio::time::timeout(FIRST_REQUEST, asked.cancelled())
            .await
            .ok();
    };
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = idle => {
            connection.as_mut().graceful_shutdown();
            poll_fn(|context| connection.as_mut().poll(context)).await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("control connection ended: {error}");
    }
}

async fn answer(
    router: &Router,
    guard: &Guard,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    let mut request = request.map(Body::new);
    let mut response = match guard.check(&request) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            let service = TowerToHyperService::new(router.clone());
            hyper::service::Service::call(&service, request).await?
        }
        Err(rejection) => rejection.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if response.status() == StatusCode::UNAUTHORIZED {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    Ok(response)
}

/// Without it a lack of file descriptors would spin.
async fn pause(error: &io::Error) {
    tracing::warn!("cannot accept a control connection: {error}");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

async fn drain(mut connections: JoinSet<()>) {
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, all).await.is_err() {
        connections.shutdown().await;
    }
}

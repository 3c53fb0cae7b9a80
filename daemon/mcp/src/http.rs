//! MCP as streamable HTTP, in both lifecycles.
//!
//! rmcp speaks the protocol. Before it: the token, the view, and the shape of the body.

mod guard;
mod sessions;
mod token;

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Path, Request, State},
    http::{Method, StatusCode},
    response::Response,
    routing::any,
};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

pub use self::token::Token;
use self::{
    guard::{bearer_is, fault, unauthorized, with_checked_body},
    sessions::{Sessions, ViewSessions},
};
use crate::{
    backend::View,
    callers::Callers,
    connection::{Connection, Origin},
    convert,
    message::{Fault, MESSAGE_MAX},
    peer::{Ends, Peer, PeerOf, RequestPeer, UnknownPeer},
    server::Shared,
};

/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";

/// Web pages of this machine; what sends no `Origin` is no web page.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// The names of this machine's loopback, with any port: another one is DNS rebinding.
const HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

type Service = StreamableHttpService<Connection, ViewSessions>;

/// One view on HTTP.
#[derive(Clone)]
struct Endpoint {
    service: Service,
    sessions: Arc<ViewSessions>,
}

/// All views on HTTP.
struct Endpoints {
    shared: Arc<Shared>,
    token: Token,
    peers: PeerOf,
    sessions: Arc<Sessions>,
    callers: Arc<Callers>,
    by_view: Mutex<HashMap<View, Endpoint>>,
}

/// The routes; see [`crate::router`].
pub(crate) fn router(shared: Arc<Shared>, token: Token, peers: PeerOf) -> Router {
    with_sessions(shared, token, peers, Sessions::new())
}

fn with_sessions(
    shared: Arc<Shared>,
    token: Token,
    peers: PeerOf,
    sessions: Arc<Sessions>,
) -> Router {
    let callers = Arc::new(Callers::new(Arc::clone(shared.backend())));
    let endpoints = Arc::new(Endpoints {
        shared,
        token,
        peers,
        sessions,
        callers,
        by_view: Mutex::default(),
    });
    Router::new()
        .route(
            "/mcp",
            any(
                async |State(endpoints): State<Arc<Endpoints>>, request: Request| {
                    endpoints.serve(View::All, request).await
                },
            ),
        )
        .route(
            "/mcp/group/{name}",
            any(
                async |State(endpoints): State<Arc<Endpoints>>,
                       Path(name): Path<String>,
                       request: Request| {
                    endpoints.serve(View::Group(name), request).await
                },
            ),
        )
        .route(
            "/mcp/server/{name}",
            any(
                async |State(endpoints): State<Arc<Endpoints>>,
                       Path(name): Path<String>,
                       request: Request| {
                    endpoints.serve(View::Server(name), request).await
                },
            ),
        )
        .with_state(endpoints)
}

impl Endpoints {
    async fn serve(&self, view: View, mut request: Request) -> Response {
        if !bearer_is(&self.token, request.headers()) {
            return unauthorized(request.headers());
        }
        let endpoint = match self.endpoint(view) {
            Ok(endpoint) => endpoint,
            Err(absent) => return fault(StatusCode::NOT_FOUND, &absent),
        };
        let ends_session = request.method() == Method::DELETE;
        // rmcp would accept the end of a session that does not exist.
        if ends_session
            && let Some(id) = request.headers().get(SESSION_HEADER)
            && !id.to_str().is_ok_and(|id| endpoint.sessions.contains(id))
        {
            let absent = Fault::request(None, "there is no such session");
            return fault(StatusCode::NOT_FOUND, &absent);
        }
        let peer = self.peer_of(&request);
        request
            .extensions_mut()
            .insert(RequestPeer(Arc::clone(&peer)));
        let mut response = match with_checked_body(request, &peer).await {
            Ok(request) => endpoint.service.handle(request).await.map(Body::new),
            Err(response) => return response,
        };
        // The session is gone, not going; the Python SDK takes 202 for a failure.
        if ends_session && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response
    }

    /// The process that sends a request, where the listener tells the ends of its connections.
    fn peer_of(&self, request: &Request) -> Arc<dyn Peer> {
        match request.extensions().get::<ConnectInfo<Ends>>() {
            Some(ConnectInfo(ends)) => (self.peers)(*ends),
            None => Arc::new(UnknownPeer(None)),
        }
    }

    /// The service of a view. Only views that exist have one, so that there are not many.
    fn endpoint(&self, view: View) -> Result<Endpoint, Fault> {
        if let Err(refusal) = self.shared.catalogue().listing(&view) {
            return Err(Fault::answer(None, convert::error(&refusal)));
        }
        let mut by_view = self.by_view.lock().unwrap_or_else(PoisonError::into_inner);
        let endpoint = by_view
            .entry(view.clone())
            .or_insert_with(|| self.new_endpoint(view));
        Ok(endpoint.clone())
    }

    fn new_endpoint(&self, view: View) -> Endpoint {
        let sessions = Arc::new(self.sessions.of(view.clone()));
        let (shared, callers) = (Arc::clone(&self.shared), Arc::clone(&self.callers));
        let connect = move || {
            let callers = Arc::clone(&callers);
            let origin = Origin::Http { callers };
            io::Result::Ok(Connection::new(Arc::clone(&shared), view.clone(), origin))
        };
        Endpoint {
            service: Service::new(connect, Arc::clone(&sessions), config()),
            sessions,
        }
    }
}

fn config() -> StreamableHttpServerConfig {
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(HOSTS)
        .with_allowed_origins(ORIGINS)
        .enforce_origin_validation();
    // Requests of the stateless protocol: plain JSON, and a stream where there is progress.
    config.json_response = true;
    config.max_request_body_bytes = MESSAGE_MAX;
    config
}

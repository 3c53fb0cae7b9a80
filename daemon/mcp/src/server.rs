//! The MCP server: what all its connections share.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    backend::Backend,
    catalogue::Catalogue,
    elicit::States,
    http::{self, Token},
    peer::{Peer, PeerOf, UnknownPeer},
    stream,
};

/// What all connections share.
pub(crate) struct Shared {
    backend: Arc<dyn Backend>,
    catalogue: Catalogue,
    states: States,
}

impl Shared {
    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub(crate) fn states(&self) -> &States {
        &self.states
    }
}

/// An MCP server over a backend. Cheap to clone; its connections share one converted catalogue.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

impl Server {
    /// A server that serves nothing yet.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        let catalogue = Catalogue::new(Arc::clone(&backend));
        Self {
            shared: Arc::new(Shared {
                backend,
                catalogue,
                states: States::new(),
            }),
        }
    }

    /// Serves one client on a byte stream until either side is done; see [`serve_stream`].
    pub async fn serve_stream<S>(&self, stream: S, peer: Arc<dyn Peer>)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        stream::serve(Arc::clone(&self.shared), stream, peer).await;
    }

    /// The routes of streamable HTTP; see [`router`]. Served with [`Ends`](crate::Ends) as connection information,
    /// requests have the peers that `peers` knows; else nobody answers approvals through them.
    pub fn router(&self, token: Token, peers: PeerOf) -> axum::Router {
        http::router(Arc::clone(&self.shared), token, peers)
    }
}

/// Serves one client with newline-delimited JSON-RPC, exactly as on stdio, until either side is done.
///
/// The first line may be `{"harness":{"group":"bash"}}` or `{"harness":{"server":"github"}}` to
/// narrow the view. `uid` is the peer's, where the socket tells it; no approval is asked for through it. Dropping the future ends the
/// connection. After the client has closed its side, calls in flight have 5 s to end.
///
/// A daemon with many connections keeps one [`Server`] instead, which converts the catalogue once.
pub async fn serve_stream<S>(backend: Arc<dyn Backend>, stream: S, uid: Option<u32>)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let peer = Arc::new(UnknownPeer(uid));
    Server::new(backend).serve_stream(stream, peer).await;
}

/// MCP as streamable HTTP: `/mcp`, `/mcp/group/NAME` and `/mcp/server/NAME`.
///
/// Each request needs the token as `Authorization: Bearer TOKEN` (else 401). `Host` must name this
/// machine's loopback, and `Origin`, where there is one, too (else 403).
pub fn router(backend: Arc<dyn Backend>, token: Token) -> axum::Router {
    let unknown: PeerOf = Arc::new(|_| Arc::new(UnknownPeer(None)));
    Server::new(backend).router(token, unknown)
}

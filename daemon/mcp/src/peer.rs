//! The process at the other end of a connection.

use std::{net::SocketAddr, sync::Arc};

use axum::{extract::connect_info::Connected, serve::IncomingStream};

/// What the daemon can tell of a client's process.
pub trait Peer: Send + Sync + 'static {
    /// Its uid, where the connection tells it.
    fn uid(&self) -> Option<u32>;

    /// Whether a person may answer approvals through it: no process of the agent's own may. Asked anew for each
    /// question and for each answer, on a thread that may block.
    fn may_answer(&self) -> bool;
}

/// A process of which nothing more is known than its uid: nobody answers through it.
#[derive(Debug, Clone, Copy)]
pub struct UnknownPeer(pub Option<u32>);

impl Peer for UnknownPeer {
    fn uid(&self) -> Option<u32> {
        self.0
    }

    fn may_answer(&self) -> bool {
        false
    }
}

/// Both ends of a TCP connection, as [`axum::Router::into_make_service_with_connect_info`] hands them on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// The daemon's.
    pub local: SocketAddr,
    /// The client's.
    pub remote: SocketAddr,
}

/// The process at the other end of a TCP connection.
pub type PeerOf = Arc<dyn Fn(Ends) -> Arc<dyn Peer> + Send + Sync>;

impl Connected<IncomingStream<'_, tokio::net::TcpListener>> for Ends {
    fn connect_info(stream: IncomingStream<'_, tokio::net::TcpListener>) -> Self {
        let remote = *stream.remote_addr();
        // One that cannot be read any more belongs to nobody.
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let local = stream.io().local_addr().unwrap_or(nowhere);
        Self { local, remote }
    }
}

/// The peer of one HTTP request, on its way through the request's extensions.
#[derive(Clone)]
pub(crate) struct RequestPeer(pub(crate) Arc<dyn Peer>);

/// [`Peer::may_answer`], where it may block.
pub(crate) async fn may_answer(peer: &Arc<dyn Peer>) -> bool {
    let peer = Arc::clone(peer);
    let asked = tokio::task::spawn_blocking(move || peer.may_answer()).await;
    let may = asked.unwrap_or(false);
    if !may {
        tracing::info!(
            "a client that could be asked may not answer: it is, or may be, the agent's own process"
        );
    }
    may
}

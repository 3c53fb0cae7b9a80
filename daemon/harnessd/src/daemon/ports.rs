//! The TCP listeners, which a reload may move.

use std::{net::SocketAddr, sync::Arc};

use harness_mcp::{Ends, PeerOf, Server};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::Fatal;
use crate::{
    config::{Loaded, Token},
    front::{http::ControlServer, peer::TcpPeer},
    keeper::KeeperState,
    systemd::listen_tcp,
};

/// The listeners of `[mcp_http]` and `[control]`.
pub(super) struct Ports {
    mcp: Server,
    control: ControlServer,
    keeper: watch::Receiver<KeeperState>,
    shutdown: CancellationToken,
    agent: Option<Port>,
    person: Option<Port>,
}

/// One listener, and what it was opened with.
struct Port {
    address: SocketAddr,
    token: Token,
    close: CancellationToken,
    serving: JoinSet<()>,
}

/// An address and the token that opens it.
type Wanted<'a> = Option<(SocketAddr, &'a Token)>;

/// Whether what is open is what is wanted.
fn stays(port: Option<&Port>, wanted: Wanted<'_>) -> bool {
    port.map(|port| (port.address, &port.token)) == wanted
}

/// Ends a listener and its connections, so that its address is free.
async fn close(port: &mut Option<Port>) {
    if let Some(mut port) = port.take() {
        port.close.cancel();
        while port.serving.join_next().await.is_some() {}
    }
}

impl Ports {
    pub(super) fn new(
        mcp: Server,
        control: ControlServer,
        keeper: watch::Receiver<KeeperState>,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            mcp,
            control,
            keeper,
            shutdown,
            agent: None,
            person: None,
        }
    }

    /// Opens and closes listeners until they are those of the configuration.
    pub(super) async fn apply(&mut self, loaded: &Loaded) -> Result<(), Fatal> {
        let config = &loaded.config;
        let listen = config.mcp_http.as_ref().map(|http| http.listen);
        let wanted = listen.zip(loaded.tokens.mcp_http.as_ref());
        if !stays(self.agent.as_ref(), wanted) {
            close(&mut self.agent).await;
            if let Some((address, token)) = wanted {
                self.agent = Some(self.open_agent(address, token)?);
            }
        }
        let wanted = config.control.listen.zip(loaded.tokens.control.as_ref());
        if !stays(self.person.as_ref(), wanted) {
            close(&mut self.person).await;
            if let Some((address, token)) = wanted {
                self.person = Some(self.open_person(address, token)?);
            }
        }
        Ok(())
    }

    fn open_agent(&self, address: SocketAddr, token: &Token) -> Result<Port, Fatal> {
        let keeper = self.keeper.clone();
        let peers: PeerOf = Arc::new(move |ends| {
            let keeper = keeper.clone();
            Arc::new(TcpPeer { ends, keeper })
        });
        let token_of_mcp = harness_mcp::Token::new(token.reveal())?;
        let router = self.mcp.router(token_of_mcp, peers);
        let service = router.into_make_service_with_connect_info::<Ends>();
        self.open(address, token, async move |listener| {
            if let Err(error) = axum::serve(listener, service).await {
                tracing::error!(%error, "the MCP listener ended");
            }
        })
    }

    fn open_person(&self, address: SocketAddr, token: &Token) -> Result<Port, Fatal> {
        let (control, secret) = (self.control.clone(), token.clone());
        self.open(address, token, async move |listener| {
            control.serve_tcp(listener, secret).await;
        })
    }

    fn open<S, F>(&self, address: SocketAddr, token: &Token, serve: S) -> Result<Port, Fatal>
    where
        S: FnOnce(TcpListener) -> F + Send + 'static,
        F: Future<Output = ()> + Send,
    {
        let listener =
            TcpListener::from_std(listen_tcp(address)?).map_err(|source| Fatal::System {
                what: "wait for connections",
                source,
            })?;
        let close = self.shutdown.child_token();
        let closing = close.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            tokio::select! {
                () = closing.cancelled() => {}
                () = serve(listener) => {}
            }
        });
        tracing::info!(%address, "listening");
        Ok(Port {
            address,
            token: token.clone(),
            close,
            serving,
        })
    }
}

//! The TCP listeners, which a reload may move.

use std::net::SocketAddr;

use harness_mcp::Server;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::Fatal;
use crate::{config::Loaded, front::http::ControlServer};

/// The listeners of `[mcp_http]` and `[control]`.
pub(super) struct Ports {
    mcp: Server,
    control: ControlServer,
    shutdown: CancellationToken,
    agent: Port,
    person: Port,
}

/// One listener, the token it was opened with, and how to close it.
#[derive(Default)]
struct Port {
    open: Option<(SocketAddr, String, CancellationToken, JoinSet<()>)>,
}

impl Port {
    /// Whether what is open is what is wanted.
    fn is(&self, wanted: Option<(SocketAddr, &str)>) -> bool {
        self.open
            .as_ref()
            .map(|(address, token, _, _)| (*address, token.as_str()))
            == wanted
    }

    /// Ends the listener and its connections, so that its address is free.
    async fn close(&mut self) {
        if let Some((_, _, close, mut serving)) = self.open.take() {
            close.cancel();
            while serving.join_next().await.is_some() {}
        }
    }
}

impl Ports {
    pub(super) fn new(mcp: Server, control: ControlServer, shutdown: CancellationToken) -> Self {
        Self {
            mcp,
            control,
            shutdown,
            agent: Port::default(),
            person: Port::default(),
        }
    }

    /// Opens and closes listeners until they are those of the configuration.
    pub(super) async fn apply(&mut self, loaded: &Loaded) -> Result<(), Fatal> {
        let config = &loaded.config;
        let token = loaded.tokens.mcp_http.as_ref().map(|token| token.reveal());
        let wanted = config.mcp_http.as_ref().map(|http| http.listen).zip(token);
        if !self.agent.is(wanted) {
            self.agent.close().await;
            if let Some((address, token)) = wanted {
                self.open_agent(address, token).await?;
            }
        }
        let wanted = config
            .control
            .listen
            .zip(loaded.tokens.control.as_ref().map(|token| token.reveal()));
        if !self.person.is(wanted) {
            self.person.close().await;
            if let Some((address, token)) = wanted {
                self.open_person(address, token).await?;
            }
        }
        Ok(())
    }

    async fn open_agent(&mut self, address: SocketAddr, secret: &str) -> Result<(), Fatal> {
        let Ok(token) = harness_mcp::Token::new(secret) else {
            return Ok(());
        };
        let listener = listen(address).await?;
        let close = self.shutdown.child_token();
        let (router, closing) = (self.mcp.router(token), close.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let served = axum::serve(listener, router);
            tokio::select! {
                () = closing.cancelled() => {}
                ended = served => tracing::error!(?ended, "the MCP listener ended"),
            }
        });
        tracing::info!(%address, "MCP over HTTP");
        self.agent.open = Some((address, secret.to_owned(), close, serving));
        Ok(())
    }

    async fn open_person(&mut self, address: SocketAddr, secret: &str) -> Result<(), Fatal> {
        let Ok(token) = crate::front::http::Token::new(secret) else {
            return Ok(());
        };
        let listener = listen(address).await?;
        let close = self.shutdown.child_token();
        let (control, closing) = (self.control.clone(), close.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            tokio::select! {
                () = closing.cancelled() => {}
                () = control.serve_tcp(listener, token) => {}
            }
        });
        tracing::info!(%address, "control over HTTP");
        self.person.open = Some((address, secret.to_owned(), close, serving));
        Ok(())
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Fatal> {
    TcpListener::bind(address)
        .await
        .map_err(|source| Fatal::Listen { address, source })
}

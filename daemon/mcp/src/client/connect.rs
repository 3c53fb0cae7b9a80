//! The first exchange: which protocol both sides speak.
//!
//! A program on pipes is greeted with `initialize`, which programs of every age understand (older ones end
//! at the sight of anything else), and only one that does not know it is asked by `server/discover`. A
//! server at an address is asked by `server/discover` first, which costs an older one nothing.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    error::ClientError,
    exchange::Exchange,
    request::{Request, notification},
    wire::Wire,
};

/// The protocol without sessions.
pub(crate) const STATELESS: &str = "2026-07-28";

/// The protocols with them, newest first.
const SESSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The `_meta` keys of a connection, not of what is said over it.
pub(crate) const RESERVED_META: &str = "io.modelcontextprotocol/";

/// Why there is no connection.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConnectError {
    /// The exchange broke off, or was answered with an error.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// It speaks no protocol of ours.
    #[error(
        "it speaks version {offered:?} of the protocol; the harness speaks 2024-11-05 to {STATELESS}"
    )]
    Version {
        /// What it offered, cut to 80 characters.
        offered: String,
    },
    /// The descriptors are no pipes.
    #[error("its pipes cannot be used: {0}")]
    Pipes(Arc<std::io::Error>),
}

impl ConnectError {
    /// Whether another attempt would end the same way.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Version { .. } | Self::Client(ClientError::Unauthorized { .. }) => true,
            Self::Client(_) | Self::Pipes(_) => false,
        }
    }
}

/// What a server said of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Hello {
    /// The protocol that both speak.
    pub protocol: String,
    /// It has no sessions.
    pub stateless: bool,
    /// Its name, version and the like (MCP `Implementation`).
    pub server_info: Option<Value>,
    /// What it offers (MCP `ServerCapabilities`).
    pub capabilities: Value,
    /// What a model should know before it uses the server.
    pub instructions: Option<String>,
}

/// How servers are greeted.
pub(super) struct Greeter<'a> {
    pub(super) wire: &'a dyn Wire,
    pub(super) exchange: &'a Exchange,
    pub(super) next: &'a (dyn Fn() -> i64 + Sync),
}

impl Greeter<'_> {
    /// A program on pipes.
    pub(super) async fn initialize_first(&self) -> Result<Hello, ConnectError> {
        match self.initialize().await {
            Err(ConnectError::Client(ClientError::Answered(error))) => {
                // What it says to `initialize` is what a person should read, unless it knows better.
                let refused = ConnectError::Client(ClientError::Answered(error));
                self.discover().await.map_err(|_| refused)
            }
            greeted => greeted,
        }
    }

    /// A server at an address.
    pub(super) async fn discover_first(&self) -> Result<Hello, ConnectError> {
        match self.discover().await {
            Ok(hello) => Ok(hello),
            Err(
                error @ (ConnectError::Client(ClientError::Unauthorized { .. })
                | ConnectError::Pipes(_)),
            ) => Err(error),
            Err(ConnectError::Client(error)) if is_unreachable(&error) => Err(error.into()),
            Err(_) => self.initialize().await,
        }
    }

    async fn initialize(&self) -> Result<Hello, ConnectError> {
        let mut params = Map::new();
        params.insert("protocolVersion".to_owned(), SESSIONS[0].into());
        params.insert("capabilities".to_owned(), json!({}));
        params.insert("clientInfo".to_owned(), identity());
        let mut result = self.ask("initialize", params).await?;
        let offered = result["protocolVersion"].as_str().unwrap_or_default();
        let Some(protocol) = SESSIONS.iter().find(|version| **version == offered) else {
            return Err(version(offered));
        };
        self.wire.agreed(protocol, false);
        let initialized = notification("notifications/initialized", &Map::new());
        self.wire.send(initialized).await?;
        Ok(Hello {
            protocol: (*protocol).to_owned(),
            stateless: false,
            server_info: taken(&mut result, "serverInfo"),
            capabilities: result["capabilities"].take(),
            instructions: result["instructions"].as_str().map(str::to_owned),
        })
    }

    async fn discover(&self) -> Result<Hello, ConnectError> {
        let mut params = Map::new();
        add_meta(&mut params);
        let mut result = self.ask("server/discover", params).await?;
        let versions = result["supportedVersions"].as_array();
        let versions: Vec<&str> = versions
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !versions.contains(&STATELESS) {
            return Err(version(&versions.join(", ")));
        }
        self.wire.agreed(STATELESS, true);
        Ok(Hello {
            protocol: STATELESS.to_owned(),
            stateless: true,
            server_info: taken(&mut result["_meta"], "io.modelcontextprotocol/serverInfo"),
            capabilities: result["capabilities"].take(),
            instructions: result["instructions"].as_str().map(str::to_owned),
        })
    }

    async fn ask(&self, method: &str, params: Map<String, Value>) -> Result<Value, ClientError> {
        // A program that ended at once has not been asked anything.
        let request = Request {
            id: (self.next)(),
            method: method.to_owned(),
            params,
            report: None,
        };
        tokio::select! {
            biased;
            answer = self.wire.request(request) => answer,
            cause = self.exchange.ended() => Err(ClientError::Lost(cause)),
        }
    }
}

/// Whether a second question would meet the same wall.
fn is_unreachable(error: &ClientError) -> bool {
    use super::error::Cause;
    matches!(
        error,
        ClientError::NotSent(Cause::Unreachable(_) | Cause::Stopped)
            | ClientError::Lost(Cause::Io(_))
    )
}

fn version(offered: &str) -> ConnectError {
    ConnectError::Version {
        offered: offered.chars().take(80).collect(),
    }
}

fn taken(object: &mut Value, member: &str) -> Option<Value> {
    object.get_mut(member).map(Value::take)
}

/// Who the harness is to servers.
fn identity() -> Value {
    json!({"name": "harnessd", "version": env!("CARGO_PKG_VERSION")})
}

/// What each request of the stateless protocol carries.
pub(super) fn add_meta(params: &mut Map<String, Value>) {
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    meta["io.modelcontextprotocol/protocolVersion"] = STATELESS.into();
    meta["io.modelcontextprotocol/clientInfo"] = identity();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
}

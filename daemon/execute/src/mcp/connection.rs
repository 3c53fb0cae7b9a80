//! What this room asks of whoever speaks MCP.

use std::sync::Arc;

use futures_util::{future::BoxFuture, stream::BoxStream};
use harness_model::{PluginStatus, Progress};
use serde_json::{Map, Value};

/// The daemon's ends of a program's pipes.
pub use harness_supervise::Connection as Pipes;

/// What a server said of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerDescription {
    /// The protocol revision.
    pub protocol: String,
    /// Its name, version and the like (MCP `Implementation`).
    pub info: Option<Value>,
    /// What it offers (MCP `ServerCapabilities`).
    pub capabilities: Value,
    /// What a model should know before it uses the server.
    pub instructions: Option<String>,
}

/// Why a server could not be greeted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ConnectFailure {
    /// In words for a person.
    pub why: String,
    /// What kind of failure it is.
    pub kind: ConnectFault,
}

/// What it means for the next attempt that a server could not be greeted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectFault {
    /// The connection ended: the end of its process says more.
    Ended,
    /// Another attempt may end otherwise.
    Passing,
    /// Another attempt would end the same way.
    Permanent,
    /// It wants a credential.
    Unauthorized,
}

/// What became of a call that has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallFailure {
    /// The server answered with a JSON-RPC error.
    #[error("{message} ({code})")]
    Answered {
        /// Its code.
        code: i64,
        /// One line.
        message: String,
        /// More, if there is more.
        data: Option<Value>,
    },
    /// It never left, or was turned away unread.
    #[error("{0}")]
    NotSent(String),
    /// It was sent, and its answer will never come.
    #[error("{0}")]
    Lost(String),
    /// The server wants a credential.
    #[error("{0}")]
    Unauthorized(String),
    /// The answer came, and cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// One call of a server's tool.
pub struct ServerCall {
    /// The tool's name with the server.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The `_meta` of the request.
    pub meta: Option<Map<String, Value>>,
    /// Where progress goes, if it is wanted.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// What a server says of its own accord.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerNotice {
    /// Its tools are others now.
    ToolsChanged,
    /// Anything else: the notification's method and parameters.
    Told(String, Map<String, Value>),
    /// It wrote something to its standard output that is no message.
    Noise(String),
    /// Some notices were missed: anything may have changed.
    Missed,
}

/// A server's tools as it lists them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// MCP `Tool` objects.
    pub tools: Vec<Value>,
    /// What was wrong with the list, if something was.
    pub warning: Option<String>,
}

/// A live connection to a server. Dropped, it ends.
pub trait ServerConnection: Send + Sync + 'static {
    /// What the server said of itself.
    fn description(&self) -> ServerDescription;

    /// Its tools, all pages of them.
    fn tools(&self) -> BoxFuture<'_, Result<Listing, CallFailure>>;

    /// Calls a tool; the result as it came. Dropping the future takes the call back.
    fn call(&self, call: ServerCall) -> BoxFuture<'_, Result<Value, CallFailure>>;

    /// Resolves when the server has shown that it is there.
    fn ping(&self) -> BoxFuture<'_, Result<(), CallFailure>>;

    /// What it says from now on.
    fn notices(&self) -> BoxStream<'static, ServerNotice>;

    /// Resolves, with the reason in words for a person, when nothing can be asked any more.
    fn ended(&self) -> BoxFuture<'_, String>;
}

/// Makes connections to one server. Each takes as long as the server does.
pub trait Connector: Send + Sync + 'static {
    /// To a program that was started.
    fn over_pipes(
        &self,
        pipes: Pipes,
    ) -> BoxFuture<'static, Result<Arc<dyn ServerConnection>, ConnectFailure>>;

    /// To the server at its address.
    fn to_address(&self) -> BoxFuture<'static, Result<Arc<dyn ServerConnection>, ConnectFailure>>;
}

/// Who is told what happens to servers. Its functions must not block.
pub trait ServerWatcher: Send + Sync + 'static {
    /// A server came, went or changed.
    fn changed(&self, status: PluginStatus);

    /// [`ToolGroup::tools`](crate::ToolGroup::tools) of this server gives others now.
    fn tools_changed(&self, server: &str);

    /// A server said something of its own accord.
    fn told(&self, server: &str, method: &str, params: &Map<String, Value>);

    /// The text without the daemon's secrets.
    fn redact(&self, text: String) -> String;
}

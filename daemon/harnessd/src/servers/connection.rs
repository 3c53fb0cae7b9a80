//! MCP as `daemon/mcp` speaks it, in the words of `daemon/execute`.

use std::sync::Arc;

use futures_util::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use harness_execute::mcp::{
    CallFailure, ConnectFailure, ConnectFault, Connector, Listing, Pipes, ServerCall,
    ServerConnection, ServerDescription, ServerNotice,
};
use harness_mcp::client::{
    Cause, Client, ClientError, ConnectError, HttpTarget, RpcError, ServerEvent, ToolCall,
};
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

/// Connects to one server.
pub(super) struct ClientConnector {
    target: Option<HttpTarget>,
}

impl ClientConnector {
    /// `target`: its address, if it has one.
    pub(super) fn new(target: Option<HttpTarget>) -> Self {
        Self { target }
    }
}

type Connecting = BoxFuture<'static, Result<Arc<dyn ServerConnection>, ConnectFailure>>;

impl Connector for ClientConnector {
    fn over_pipes(&self, pipes: Pipes) -> Connecting {
        Box::pin(async move {
            let connected = Client::over_pipes(pipes.stdin, pipes.stdout).await;
            connected.map(live).map_err(|error| failure(&error))
        })
    }

    fn to_address(&self) -> Connecting {
        let target = self.target.clone();
        Box::pin(async move {
            let target = target.ok_or_else(|| ConnectFailure {
                why: "it has no address".to_owned(),
                kind: ConnectFault::Permanent,
            })?;
            let connected = Client::over_http(target).await;
            connected.map(live).map_err(|error| failure(&error))
        })
    }
}

fn live(client: Client) -> Arc<dyn ServerConnection> {
    Arc::new(ClientConnection(client))
}

fn failure(error: &ConnectError) -> ConnectFailure {
    ConnectFailure {
        why: error.to_string(),
        kind: match error {
            ConnectError::Client(ClientError::Unauthorized { .. }) => ConnectFault::Unauthorized,
            ConnectError::Client(ClientError::Lost(Cause::Closed | Cause::Io(_))) => {
                ConnectFault::Ended
            }
            error if error.is_permanent() => ConnectFault::Permanent,
            ConnectError::Client(_) | ConnectError::Version { .. } | ConnectError::Pipes(_) => {
                ConnectFault::Passing
            }
        },
    }
}

struct ClientConnection(Client);

impl ServerConnection for ClientConnection {
    fn description(&self) -> ServerDescription {
        let hello = self.0.hello();
        ServerDescription {
            protocol: hello.protocol.clone(),
            info: hello.server_info.clone(),
            capabilities: hello.capabilities.clone(),
            instructions: hello.instructions.clone(),
        }
    }

    fn tools(&self) -> BoxFuture<'_, Result<Listing, CallFailure>> {
        let listed = self.0.tools().map(|listed| {
            let (tools, warning) = listed.map_err(failed)?;
            let warning = warning.map(str::to_owned);
            Ok(Listing { tools, warning })
        });
        listed.boxed()
    }

    fn call(&self, call: ServerCall) -> BoxFuture<'_, Result<Value, CallFailure>> {
        let call = ToolCall {
            name: call.tool,
            arguments: call.arguments,
            meta: call.meta,
            report: call.progress,
        };
        let called = self.0.call_tool(call);
        called.map(|result| result.map_err(failed)).boxed()
    }

    fn ping(&self) -> BoxFuture<'_, Result<(), CallFailure>> {
        let answered = self.0.ping();
        answered.map(|result| result.map_err(failed)).boxed()
    }

    fn notices(&self) -> BoxStream<'static, ServerNotice> {
        let notices = stream::unfold(self.0.events(), |mut events| async {
            let notice = match events.recv().await {
                Ok(ServerEvent::Notification { method, params }) => {
                    if method == "notifications/tools/list_changed" {
                        ServerNotice::ToolsChanged
                    } else {
                        ServerNotice::Told(method, params)
                    }
                }
                Ok(ServerEvent::Noise(text)) => ServerNotice::Noise(text),
                Err(RecvError::Lagged(_)) => ServerNotice::Missed,
                Err(RecvError::Closed) => return None,
            };
            Some((notice, events))
        });
        // Nothing follows the end, and nobody should spin on it.
        notices.chain(stream::pending()).boxed()
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        self.0.ended().map(|cause| cause.to_string()).boxed()
    }
}

fn failed(error: ClientError) -> CallFailure {
    match error {
        ClientError::Answered(RpcError {
            code,
            message,
            data,
        }) => CallFailure::Answered {
            code,
            message,
            data,
        },
        ClientError::NotSent(cause) => CallFailure::NotSent(cause.to_string()),
        ClientError::Lost(cause) => CallFailure::Lost(cause.to_string()),
        error @ ClientError::Unauthorized { .. } => CallFailure::Unauthorized(error.to_string()),
        error @ ClientError::Unreadable { .. } => CallFailure::Unreadable(error.to_string()),
    }
}

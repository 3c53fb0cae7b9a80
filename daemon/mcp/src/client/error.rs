//! What can become of a request to an MCP server.

use std::{io, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A JSON-RPC error, as the server sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// The code, negative for those that JSON-RPC and MCP define.
    #[serde(default)]
    pub code: i64,
    /// One line.
    #[serde(default)]
    pub message: String,
    /// More, if the server had more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Why a server cannot be spoken to.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Cause {
    /// It closed its standard output, or ended.
    #[error("it closed its side of the connection")]
    Closed,
    /// The connection was given up by the harness.
    #[error("it was stopped")]
    Stopped,
    /// A pipe or a connection failed.
    #[error("the connection broke: {0}")]
    Io(#[from] Arc<io::Error>),
    /// It writes without end, and no messages.
    #[error("it floods its standard output with what is no message")]
    Flood,
    /// It wrote a line that is longer than any message may be.
    #[error("it sent a message of more than {mebibytes} MiB")]
    TooLong {
        /// The limit.
        mebibytes: usize,
    },
    /// It does not read what it is sent.
    #[error("it does not read its standard input")]
    Congested,
    /// Nobody listens at its address, or its name or certificate is not known.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It answered HTTP with this status.
    #[error("it answered with HTTP status {status}{detail}")]
    Status {
        /// The status.
        status: u16,
        /// What the body says, if it says something, after a colon.
        detail: String,
    },
    /// It ended the session.
    #[error("it ended the session")]
    SessionGone,
    /// The stream with the answer broke off, and could not be resumed.
    #[error("the stream with the answer broke off")]
    StreamEnded,
}

/// What became of a request that has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The server answered with an error.
    #[error(transparent)]
    Answered(#[from] RpcError),
    /// It never left, or was turned away unread: sending it again cannot do it twice.
    #[error("{0}")]
    NotSent(Cause),
    /// It was sent, and its answer will never come.
    #[error("{0}")]
    Lost(Cause),
    /// The server wants a credential that it was not given (HTTP 401 and 403).
    #[error("it refuses the credential it was given, or wants one (HTTP status {status})")]
    Unauthorized {
        /// The status.
        status: u16,
    },
    /// An answer came, but it cannot be read.
    #[error("its answer cannot be read: {what}")]
    Unreadable {
        /// What is wrong with it.
        what: &'static str,
    },
}

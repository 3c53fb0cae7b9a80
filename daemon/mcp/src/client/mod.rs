//! The client side: connections of the harness to MCP servers.
//!
//! It is written by hand and not on rmcp's client, because what a server says goes through the harness
//! unchanged: rmcp reads messages into types and drops the members that they do not have. Messages are
//! JSON values here, and only what the harness itself needs of them is looked at.
//!
//! A [`Client`] speaks the 2025-11-25 protocol and older ones in a session, and 2026-07-28 without one, over a
//! pair of pipes or streamable HTTP. Every request is sent once: one whose answer cannot come any more is
//! [`ClientError::Lost`], which is not the same as one that never left ([`ClientError::NotSent`]).

mod connect;
mod error;
mod exchange;
mod handle;
mod http;
mod incoming;
mod pages;
mod pipes;
mod request;
mod wire;

pub use connect::{ConnectError, Hello};
pub use error::{Cause, ClientError, RpcError};
pub use exchange::ServerEvent;
pub use handle::{Client, ToolCall};
pub use http::{HttpTarget, TargetError};
pub use request::Report;

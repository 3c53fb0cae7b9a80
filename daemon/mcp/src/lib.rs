//! The agent's front: MCP over `mcp.sock` and over streamable HTTP.
//!
//! This is the only crate that sees rmcp; the rest of the daemon sees [`Backend`] and the nouns of
//! `harness-model`. Both lifecycles are served side by side on both transports: sessions that begin
//! with `initialize` (2024-11-05 to 2025-11-25), and the stateless 2026-07-28 protocol.
//!
//! What rmcp 3.11 leaves to do, and where it is done:
//!
//! - its stream transport is silent about malformed and over-long lines, sends messages in whatever
//!   order its tasks are woken, ends the connection on a notification that comes too early, loses one
//!   of two answers to the same request id and reads on however much is unanswered: `stream`;
//! - it parses a message by trying all methods in turn: `message` has a short way for `tools/call`;
//! - it takes known methods with wrong parameters for unknown ones: `request`;
//! - its request states open as often as they come: `elicit`;
//! - its HTTP sessions have no limit in number, and it answers malformed bodies with 415: `http`;
//! - its tasks live in memory: `task`.

mod backend;
mod call;
mod callers;
mod catalogue;
pub mod client;
mod connection;
mod convert;
mod elicit;
mod error;
mod handler;
mod http;
mod message;
mod notice;
mod output_schema;
mod peer;
mod progress;
mod request;
mod server;
mod session;
mod stream;
mod task;

pub use backend::{Backend, Exposed, Notice, TaskHandle, TaskStart, View};
pub use convert::FOREIGN_ERROR;
pub use error::{Error, Result};
pub use http::Token;
pub use peer::{Ends, Peer, PeerOf, UnknownPeer};
pub use server::{Server, router, serve_stream};

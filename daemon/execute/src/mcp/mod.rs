//! MCP servers: each is a tool group of its own, and what runs it is a unit.
//!
//! An [`McpServer`] is a handle to one task (`supervisor`) that starts the program, greets it, lists its tools,
//! looks after it and starts it again. How it is spoken to is behind [`Connector`] and [`ServerConnection`]; when
//! a program is started again, and when it is given up, is the unit engine's arithmetic. To that the
//! supervisor adds what the engine cannot see: a program that runs and does not answer is killed, so that the
//! engine starts it again; one that was ready for a while has its delays reset; one that never gets as far as
//! a greeting is parked.

mod activity;
mod address;
mod attend;
mod call;
mod connection;
mod greet;
mod offer;
mod output;
mod program;
mod refusal;
mod server;
mod settings;
mod state;
mod supervisor;

pub use connection::{
    CallFailure, ConnectFailure, ConnectFault, Connector, Listing, Pipes, ServerCall,
    ServerConnection, ServerDescription, ServerNotice, ServerWatcher,
};
pub use server::McpServer;
pub use settings::{Program, Reach, ServerSettings};

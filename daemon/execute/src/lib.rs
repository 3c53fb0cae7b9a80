//! Runs an allowed call: the built-in tool groups and MCP servers.
//!
//! A group is handed calls that were resolved, validated and authorized already. It sees the nouns and
//! the unit engine; what it needs from the record comes in through the small traits of [`store`].

pub mod bash;
mod confine;
mod containment;
mod group;
pub mod mcp;
mod schema;
mod script;
pub mod shell;
pub mod store;
pub mod wakes;

pub use group::{ToolGroup, input};

//! The daemon's side of the keeper: a [`harness_supervise::Spawner`] over its protocol.
//!
//! [`connect`] finds, starts or awaits the keeper and returns what it still owns. From then on one
//! task reads the connection, routes replies and events, and makes a new connection when it breaks.
//! Requests are written by whoever makes them, in one system call each, descriptors included.

mod convert;
mod driver;
mod error;
mod find;
mod handle;
mod link;
mod routes;

pub use error::KeeperError;
pub use find::{KeeperOptions, KeeperStart};
pub use handle::{KeeperHandle, KeeperState, Pipes, connect};

#[cfg(test)]
pub(crate) mod tests;

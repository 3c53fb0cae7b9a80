//! Talks to a harness over its control socket.
//!
//! [`Selector`] finds the harness, [`Client`] has a method for each endpoint, [`Events`] and
//! [`Follow`] read streams that survive a restart of the daemon.

mod backoff;
mod client;
mod error;
mod events;
mod follow;
mod place;
mod subscription;
mod transport;

pub use client::{Answers, Client};
pub use error::{Error, Result};
pub use events::{EventMessage, Events};
pub use follow::Follow;
pub use place::{DEFAULT_AGENT, Selector, Socket, Surroundings};

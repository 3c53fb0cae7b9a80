//! The person's front over real sockets, with a harness that only plays one.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod client;
mod fake;
mod refusals;
mod server;
mod streams;
mod tcp;

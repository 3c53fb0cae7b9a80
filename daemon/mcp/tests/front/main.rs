//! The front as clients see it, over a stream and over HTTP, with a backend that answers by itself.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a failing helper fails its test, and helpers are fed literals"
)]

mod backend;
mod calls;
mod client;
mod http;
mod lifecycle;
mod lines;
mod notices;
mod tasks;
mod views;
mod web;

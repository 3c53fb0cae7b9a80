//! What the process-level tests share: a harness of their own, clients for its sockets, waiting for events.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "a test that cannot go on fails by panicking"
)]

pub mod binaries;
pub mod clients;
pub mod command;
pub mod event;
pub mod harness;
pub mod http;
pub mod mcp;
pub mod relay;
pub mod systemd;
pub mod trial;

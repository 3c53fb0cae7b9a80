//! The host as a process, with plugins that behave and one that does not.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod client;
mod load;
mod plugins;
mod protocol;
mod sabotage;

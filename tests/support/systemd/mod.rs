//! A real systemd to test against, and harnesses that run in it as services.

mod agent;
mod testbed;

pub use agent::Agent;
pub use testbed::SystemdBox;

//! The tool harness of one AI agent: wiring of the rooms, and its fronts.

mod approvals;
mod call;
mod catalogue;
pub mod cli;
pub mod config;
pub mod daemon;
mod explain;
pub mod front;
mod harness;
mod hooks;
mod journal;
pub mod keeper;
mod limits;
mod live;
mod plan;
mod policy;
mod program;
mod rating;
mod recover;
mod redact;
mod reload;
mod run_variables;
mod runs;
mod servers;
mod sessions;
mod status;
mod store;
pub mod systemd;
mod trace;
mod turn;
mod wakes;

pub use harness::Harness;

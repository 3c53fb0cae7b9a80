//! The life of a unit as a pure machine: events in, a new state and what to do about it out.
//!
//! Compared with systemd 252 cell by cell; see `tests/supervise/systemd-252.txt`.

mod adopt;
mod event;
mod machine;

pub use adopt::Known;
pub use event::{Action, Event};
pub use machine::Machine;

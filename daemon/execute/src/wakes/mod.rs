//! The tool group `wakes`: what ended while the agent was not looking.

mod group;
mod input;

pub use group::{LONGEST_WAIT, Wakes};

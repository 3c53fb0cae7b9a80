//! The record: every unit, run, call and wake of a harness, in one SQLite database.
//!
//! All writes go through one thread that commits them in groups: what waits while a commit is on
//! its way goes into the next one, so that many callers share one commit, and what nobody waits for
//! goes with what comes in the next milliseconds. A write resolves after the commit that holds it.
//! Reads run on read-only connections in threads of their own and see every write that was
//! committed before they were asked for.
//!
//! The cost of the frequent operations does not grow with the history: live units, open calls and
//! due wakes have indexes of their own, and counts are kept by triggers.

mod approvals;
mod calls;
mod connection;
mod error;
mod excerpt;
mod invocations;
mod page;
mod prune;
mod ratings;
mod reader;
mod record;
mod reports;
mod row;
mod schema;
mod units;
mod wakes;
mod writer;

pub use approvals::Asked;
pub use error::{Error, Result};
pub use excerpt::excerpt;
pub use record::Record;

#[cfg(test)]
mod tests;

//! Allowlists of commands.

mod judge;
mod pattern;

pub use judge::{Matched, Policy, Verdict, judge, judge_scan};
pub use pattern::{Pattern, PatternError};

//! A yes, a no, or a question: pure functions of policy, tool, call and grants.
//!
//! Nothing here has a clock, a disk or a runtime. What a person granted comes in as a value, and what
//! comes out says which rules matched, so that a decision can be explained and undone.

pub mod command;
mod decision;
mod evaluate;
mod grant;
mod name;
pub mod plan;
mod policy;
mod rating;
mod read;
mod sandbox;
mod shell;

pub use decision::{Decision, Evaluation, MatchedRule, Why};
pub use evaluate::authorize;
pub use grant::Grants;
pub use policy::{ApprovalMode, Mode, Policy, RuleError, ToolRule, names};
pub use rating::Rating;

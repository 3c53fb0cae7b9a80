//! A yes or a no: pure functions of policy, tool and call.
//!
//! Nothing here has a clock, a disk or a runtime. What a person granted comes in as a value, and what
//! comes out says which rules matched, so that a refusal can be explained and undone.

mod decision;
mod evaluate;
mod policy;

pub use decision::{Decision, Evaluation, MatchedRule};
pub use evaluate::authorize;
pub use policy::Policy;

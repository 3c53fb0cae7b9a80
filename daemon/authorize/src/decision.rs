//! What an evaluation says.

use std::fmt;

/// The answer for one call. The order is the strictness: the strictest match wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person has to answer first.
    Ask,
    /// It does not run.
    Deny,
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// One rule that had something to say about the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedRule {
    /// Where the rule stands, such as `tool_groups`.
    pub layer: &'static str,
    /// The rule in the words of the configuration.
    pub rule: String,
    /// What it says.
    pub decision: Decision,
}

/// The whole answer: the decision and every rule that took part in it, in the order of evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The strictest of the matched rules; `Deny` when none matched.
    pub decision: Decision,
    /// The rules that matched.
    pub matched: Vec<MatchedRule>,
}

impl Evaluation {
    /// The strictest of `matched` decides; without any rule nothing is allowed.
    #[must_use]
    pub fn of(matched: Vec<MatchedRule>) -> Self {
        let decision = matched
            .iter()
            .map(|rule| rule.decision)
            .max()
            .unwrap_or(Decision::Deny);
        Self { decision, matched }
    }

    /// The rule that decided: the first of the strictest.
    #[must_use]
    pub fn deciding(&self) -> Option<&MatchedRule> {
        self.matched
            .iter()
            .find(|rule| rule.decision == self.decision)
    }
}

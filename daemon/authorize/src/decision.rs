//! What an evaluation says.

use std::fmt;

use harness_model::{Allowance, Scope};

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

/// Why a person is asked, as the card says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The tool says that it may destroy something.
    Destructive,
    /// The tool reaches beyond this machine and does not say that it only reads.
    OpenWorld,
    /// The tool does not say that it only reads, and the mode is `protective`.
    Mutating,
    /// A rule of the configuration asks.
    Policy,
    /// The call asks for more than the sandbox gives.
    Sandbox,
    /// The tool says nothing, and was rated as changing something.
    RatedChanges,
}

impl Why {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Destructive => "destructive",
            Self::OpenWorld => "open_world",
            Self::Mutating => "mutating",
            Self::Policy => "policy",
            Self::Sandbox => "sandbox",
            Self::RatedChanges => "rated_changes",
        }
    }
}

/// One rule that had something to say about the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedRule {
    /// Where the rule stands, such as `tool_groups` or `[tool.shell]`.
    pub layer: String,
    /// The rule in the words of the configuration.
    pub rule: String,
    /// What it says.
    pub decision: Decision,
    /// What would change it.
    pub remedy: String,
}

/// The whole answer: the decision and every rule that took part in it, in the order of evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The strictest of the matched rules, unless it asks and a person has answered for good; `Deny`
    /// when none matched.
    pub decision: Decision,
    /// The rules that matched.
    pub matched: Vec<MatchedRule>,
    /// Why a person is asked.
    pub why: Option<Why>,
    /// What an "always" for this call would cover: as much as is shown, and no more. Of a script that is not asked
    /// about, its text.
    pub scope: Scope,
    /// Set when it runs because an allowlist let it through, and not because a person has answered: what it was
    /// read to run, and may not exceed.
    pub allowance: Option<Allowance>,
}

impl Evaluation {
    /// The rule that decided: the first of those that say what was decided.
    #[must_use]
    pub fn deciding(&self) -> Option<&MatchedRule> {
        self.matched
            .iter()
            .find(|rule| rule.decision == self.decision)
    }
}

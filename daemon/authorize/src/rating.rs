//! What is known of a tool whose author says nothing of it.

use harness_model::Tool;

use crate::{ApprovalMode, Decision, MatchedRule, Policy};

/// Whether a tool without annotations changes something, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rating {
    /// It changes something, or nobody can say that it does not.
    pub changes: bool,
    /// Who says so and why, in one line.
    pub says: String,
    /// What would change it.
    pub remedy: String,
}

impl Rating {
    /// The rule it comes to.
    pub(crate) fn rule(&self) -> MatchedRule {
        MatchedRule {
            layer: "[approval] rater".to_owned(),
            rule: self.says.clone(),
            decision: if self.changes {
                Decision::Ask
            } else {
                Decision::Allow
            },
            remedy: self.remedy.clone(),
        }
    }
}

impl Policy {
    /// Whether a rating of the tool can make a difference: its author says nothing, no rule names it, and the mode is
    /// `normal`. The other modes ask about it in any case, or never.
    #[must_use]
    pub fn heeds_rating(&self, tool: &Tool) -> bool {
        tool.annotations.are_silent()
            && self.approval == ApprovalMode::Normal
            && self.has_group(&tool.group)
            && tool.group != "bash"
            && self.rule_for(tool).is_none()
    }
}

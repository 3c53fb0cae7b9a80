//! The one function that decides.

use harness_model::{Call, Tool};

use crate::{Decision, Evaluation, MatchedRule, Policy};

/// Whether `call` of `tool` may run under `policy`.
#[must_use]
pub fn authorize(policy: &Policy, tool: &Tool, _call: &Call) -> Evaluation {
    let decision = if policy.has_group(&tool.group) {
        Decision::Allow
    } else {
        Decision::Deny
    };
    Evaluation::of(vec![MatchedRule {
        layer: "tool_groups",
        rule: tool.group.clone(),
        decision,
    }])
}

#[cfg(test)]
mod tests {
    use harness_model::{Annotations, CallId, Timestamp};
    use serde_json::{Map, json};

    use super::*;

    fn evaluate(groups: &[&str], group: &str) -> Evaluation {
        let tool = Tool {
            group: group.to_owned(),
            name: "x".to_owned(),
            title: None,
            description: String::new(),
            input_schema: json!({"type": "object"}),
            output_schema: None,
            annotations: Annotations::default(),
            direct: true,
        };
        let call = Call {
            id: CallId::generate(),
            group: group.to_owned(),
            tool: "x".to_owned(),
            input: Map::new(),
            started_at: Timestamp::default(),
        };
        authorize(&Policy::of_groups(groups.iter().copied()), &tool, &call)
    }

    #[test]
    fn a_tool_of_a_group_that_is_switched_on_is_allowed() {
        assert_eq!(evaluate(&["wakes"], "wakes").decision, Decision::Allow);
    }

    #[test]
    fn a_tool_of_a_group_that_is_switched_off_is_denied_and_the_rule_is_named() {
        let evaluation = evaluate(&[], "wakes");
        assert_eq!(evaluation.decision, Decision::Deny);
        assert_eq!(
            evaluation.deciding().map(|rule| rule.rule.as_str()),
            Some("wakes")
        );
    }

    #[test]
    fn bash_cannot_be_switched_off() {
        assert_eq!(evaluate(&[], "bash").decision, Decision::Allow);
    }

    #[test]
    fn without_any_rule_nothing_is_allowed() {
        assert_eq!(Evaluation::of(Vec::new()).decision, Decision::Deny);
    }

    #[test]
    fn the_strictest_rule_wins_whatever_its_place() {
        let rule = |decision| MatchedRule {
            layer: "test",
            rule: String::new(),
            decision,
        };
        let evaluation = Evaluation::of(vec![
            rule(Decision::Ask),
            rule(Decision::Deny),
            rule(Decision::Allow),
        ]);
        assert_eq!(evaluation.decision, Decision::Deny);
    }
}

//! The one function that decides.

use harness_model::{Call, Scope, Tool};

use crate::{
    ApprovalMode, Decision, Evaluation, Grants, MatchedRule, Mode, Policy, ToolRule, Why,
    shell::Script,
};

/// Whether `call` of `tool` may run under `policy`, given what a person has answered for good.
///
/// `rated_changes` is the rater's word on a tool that says nothing of itself; it only ever adds a question.
#[must_use]
pub fn authorize(
    policy: &Policy,
    tool: &Tool,
    call: &Call,
    grants: &Grants,
    rated_changes: bool,
) -> Evaluation {
    let script = Script::of(tool, call, policy);
    let mut found = Found::default();
    if !policy.has_group(&tool.group) {
        found.push(
            "tool_groups",
            tool.group.clone(),
            Decision::Deny,
            "add the group to tool_groups",
        );
    } else if let Some(rule) = policy.rule_for(tool) {
        by_rule(rule, script.as_ref(), &mut found);
    } else if tool.group == "bash" {
        found.push(
            "built-in",
            "bash is allowed where no rule names it".to_owned(),
            Decision::Allow,
            "set [tool.run] mode",
        );
    } else {
        by_annotations(policy.approval, tool, rated_changes, &mut found);
    }
    if let Some(no) = grants.rejection(tool, script.as_ref()) {
        let remedy = "revoke it with `harnessctl approvals revoke`";
        found.push(
            "standing rejection",
            no.id.to_string(),
            Decision::Deny,
            remedy,
        );
    }
    let mut decision = found.strictest();
    if decision == Decision::Ask
        && let Some(yes) = grants.approval(tool, script.as_ref())
    {
        let remedy = "revoke it with `harnessctl approvals revoke`";
        found.push(
            "standing approval",
            yes.id.to_string(),
            Decision::Allow,
            remedy,
        );
        decision = Decision::Allow;
    }
    // Only a question needs it, and finding it takes as long as the judgement.
    let scope = match &script {
        None => Scope::Tool,
        Some(script) if decision == Decision::Ask => script.scope(),
        Some(script) => Scope::Text(script.text().to_owned()),
    };
    Evaluation {
        decision,
        why: found.why.filter(|_| decision == Decision::Ask),
        matched: found.rules,
        scope,
    }
}

#[derive(Default)]
struct Found {
    rules: Vec<MatchedRule>,
    why: Option<Why>,
}

impl Found {
    fn push(&mut self, layer: &str, rule: String, decision: Decision, remedy: &str) {
        self.rules.push(MatchedRule {
            layer: layer.to_owned(),
            rule,
            decision,
            remedy: remedy.to_owned(),
        });
    }

    fn ask(&mut self, layer: &str, rule: String, why: Why, remedy: &str) {
        self.why.get_or_insert(why);
        self.push(layer, rule, Decision::Ask, remedy);
    }

    /// Without any rule nothing is allowed.
    fn strictest(&self) -> Decision {
        self.rules
            .iter()
            .map(|rule| rule.decision)
            .max()
            .unwrap_or(Decision::Deny)
    }
}

fn by_rule(rule: &ToolRule, script: Option<&Script<'_>>, found: &mut Found) {
    let layer = format!("[tool.{}]", rule.name);
    let mode = format!("mode = {:?}", rule.mode.as_str());
    match rule.mode {
        Mode::Off => found.push(&layer, mode, Decision::Deny, "change its mode"),
        Mode::Allow => found.push(&layer, mode, Decision::Allow, "change its mode"),
        Mode::Ask => found.ask(
            &layer,
            mode,
            Why::Policy,
            "answer with allow_always, or change its mode",
        ),
        Mode::Allowlist => match script.map(|script| script.judge(&rule.allowlist)) {
            Some(Ok(())) => found.push(
                &layer,
                "allowlist".to_owned(),
                Decision::Allow,
                "change the allowlist",
            ),
            Some(Err(reason)) => {
                found.ask(
                    &layer,
                    format!("allowlist: {reason}"),
                    Why::Policy,
                    "add a pattern to the allowlist",
                );
            }
            None => {
                let rule = "allowlist: the tool takes no command".to_owned();
                found.ask(
                    &layer,
                    rule,
                    Why::Policy,
                    "an allowlist is for shells: set another mode",
                );
            }
        },
    }
}

fn by_annotations(mode: ApprovalMode, tool: &Tool, rated_changes: bool, found: &mut Found) {
    let says = &tool.annotations;
    let reads = says.read_only_hint == Some(true);
    let why = match mode {
        ApprovalMode::Off => None,
        ApprovalMode::Protective => (!reads).then_some(Why::Mutating),
        ApprovalMode::Normal if reads => None,
        ApprovalMode::Normal if says.destructive_hint == Some(true) => Some(Why::Destructive),
        ApprovalMode::Normal if says.open_world_hint == Some(true) => Some(Why::OpenWorld),
        ApprovalMode::Normal => rated_changes.then_some(Why::RatedChanges),
    };
    let rule = match mode {
        ApprovalMode::Off => "mode = \"off\"",
        ApprovalMode::Normal => "mode = \"normal\"",
        ApprovalMode::Protective => "mode = \"protective\"",
    };
    let remedy = format!("set [tool.{}__{}] mode", tool.group, tool.name);
    match why {
        None => found.push("[approval]", rule.to_owned(), Decision::Allow, &remedy),
        Some(why) => found.ask(
            "[approval]",
            format!("{rule}: the tool is {}", why.as_str()),
            why,
            &remedy,
        ),
    }
}

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;

//! The one function that decides.

use harness_model::{Allowance, Call, SandboxRequest, Scope, Tool};

use crate::{
    ApprovalMode, Decision, Evaluation, Grants, MatchedRule, Mode, Policy, Rating, ToolRule, Why,
    read::Read, sandbox, shell::Script,
};

/// Whether `call` of `tool` may run under `policy`, given what a person has answered for good.
///
/// `rating` is what is known of a tool that says nothing of itself; it only ever adds a question.
#[must_use]
pub fn authorize(
    policy: &Policy,
    tool: &Tool,
    call: &Call,
    grants: &Grants,
    rating: Option<&Rating>,
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
        by_annotations(policy.approval, tool, &mut found);
        if let Some(rating) = rating.filter(|_| policy.heeds_rating(tool)) {
            found.rated(rating);
        }
    }
    let opened = match &script {
        Some(_) => sandbox::opened(&policy.sandbox, found.allowance.as_ref(), call),
        None => SandboxRequest::default(),
    };
    if !opened.is_empty() {
        found.ask_first("[sandbox]", &opened);
    }
    by_answers(grants, tool, script.as_ref(), &opened, found)
}

/// The answers for good, over what the rules say.
fn by_answers(
    grants: &Grants,
    tool: &Tool,
    script: Option<&Script<'_>>,
    opened: &SandboxRequest,
    mut found: Found,
) -> Evaluation {
    let remedy = "revoke it with `harnessctl approvals revoke`";
    if let Some(no) = grants.rejection(tool, script, opened) {
        let id = no.id.to_string();
        found.push("standing rejection", id, Decision::Deny, remedy);
    }
    let by_rules = found.strictest();
    let mut decision = by_rules;
    if decision == Decision::Ask
        && let Some(yes) = grants.approval(tool, script, opened)
    {
        let id = yes.id.to_string();
        found.push("standing approval", id, Decision::Allow, remedy);
        decision = Decision::Allow;
    }
    // Only a question needs it, and finding it takes as long as the judgement.
    let scope = match script {
        None => Scope::Tool,
        Some(script) if decision == Decision::Ask => script.scope(),
        Some(script) => Scope::Text(script.text().to_owned()),
    };
    Evaluation {
        decision,
        why: found.why.filter(|_| decision == Decision::Ask),
        matched: found.rules,
        scope: sandbox::within(scope, opened),
        allowance: found.allowance.filter(|_| by_rules == Decision::Allow),
    }
}

#[derive(Default)]
struct Found {
    rules: Vec<MatchedRule>,
    why: Option<Why>,
    /// What an allowlist let through.
    allowance: Option<Allowance>,
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

    fn rated(&mut self, rating: &Rating) {
        if rating.changes {
            self.why.get_or_insert(Why::RatedChanges);
        }
        self.rules.push(rating.rule());
    }

    /// Before the others, so that what is opened stands on the card.
    fn ask_first(&mut self, layer: &str, opened: &SandboxRequest) {
        let asks = MatchedRule {
            layer: layer.to_owned(),
            rule: format!("the call asks to {opened}"),
            decision: Decision::Ask,
            remedy: "leave out the input `sandbox`, or change [sandbox]".to_owned(),
        };
        self.rules.insert(0, asks);
        self.why = Some(Why::Sandbox);
    }

    /// An allowlist lets the script through, within what was read.
    fn listed(&mut self, layer: &str, rule: &ToolRule, read: Read) {
        self.push(
            layer,
            "allowlist".to_owned(),
            Decision::Allow,
            "change the allowlist",
        );
        self.allowance = Some(Allowance {
            rule: layer.to_owned(),
            programs: read.programs,
            execute: rule.execute.clone(),
            moves: read.moves,
        });
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
            Some(Ok(read)) => found.listed(&layer, rule, read),
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

fn by_annotations(mode: ApprovalMode, tool: &Tool, found: &mut Found) {
    let says = &tool.annotations;
    let reads = says.read_only_hint == Some(true);
    let why = match mode {
        ApprovalMode::Protective => (!reads).then_some(Why::Mutating),
        ApprovalMode::Normal if reads => None,
        ApprovalMode::Normal if says.destructive_hint == Some(true) => Some(Why::Destructive),
        ApprovalMode::Normal if says.open_world_hint == Some(true) => Some(Why::OpenWorld),
        ApprovalMode::Off | ApprovalMode::Normal => None,
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

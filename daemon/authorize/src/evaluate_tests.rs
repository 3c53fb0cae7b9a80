use std::path::PathBuf;

use harness_model::{Annotations, CallId, Timestamp};
use serde_json::{Value, json};

use super::*;
use harness_model::Standing;

fn tool(group: &str, name: &str, annotations: Annotations) -> Tool {
    Tool {
        group: group.to_owned(),
        name: name.to_owned(),
        title: None,
        description: String::new(),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations,
        direct: true,
    }
}

fn call(tool: &Tool, input: &Value) -> Call {
    Call {
        id: CallId::generate(),
        group: tool.group.clone(),
        tool: tool.name.clone(),
        input: input.as_object().unwrap().clone(),
        started_at: Timestamp::default(),
        allowance: None,
    }
}

fn rule(name: &str, mode: Mode, allowlist: &[&str]) -> ToolRule {
    let allowlist: Vec<String> = allowlist.iter().map(|&entry| entry.to_owned()).collect();
    ToolRule::new(name, mode, &allowlist).unwrap()
}

fn policy(rules: Vec<ToolRule>) -> Policy {
    let mut policy = Policy::of_groups(["shell", "github", "wakes"]).with_rules(rules);
    policy.workspace = PathBuf::from("/srv/work");
    policy
}

#[test]
fn a_rule_for_a_tool_of_the_harness_is_none_for_a_servers_tool_of_the_same_name() {
    let rules = vec![
        rule("shell", Mode::Allow, &[]),
        rule("sh*", Mode::Allow, &[]),
        rule("other__*", Mode::Off, &[]),
    ];
    let policy = policy(rules).with_servers(["github", "other"]);
    let decide = |group: &str, name: &str| {
        let tool = tool(group, name, declared(None, Some(true), None));
        authorize(
            &policy,
            &tool,
            &call(&tool, &json!({})),
            &Grants::default(),
            None,
        )
        .decision
    };
    assert_eq!(decide("github", "shell"), Decision::Ask);
    assert_eq!(decide("other", "anything"), Decision::Deny);
}

fn run(policy: &Policy, cmd: &str, grants: &Grants) -> Evaluation {
    let tool = tool("bash", "run", Annotations::default());
    authorize(
        policy,
        &tool,
        &call(&tool, &json!({"cmd": cmd})),
        grants,
        None,
    )
}

fn declared(
    read_only: Option<bool>,
    destructive: Option<bool>,
    open_world: Option<bool>,
) -> Annotations {
    Annotations {
        read_only_hint: read_only,
        destructive_hint: destructive,
        idempotent_hint: None,
        open_world_hint: open_world,
    }
}

#[test]
fn a_group_that_is_switched_off_is_denied_whatever_its_rules_say() {
    let policy = policy(vec![rule("*", Mode::Allow, &[])]);
    let other = tool("gitlab", "x", Annotations::default());
    let evaluation = authorize(
        &policy,
        &other,
        &call(&other, &json!({})),
        &Grants::default(),
        None,
    );
    assert_eq!(evaluation.decision, Decision::Deny);
    assert_eq!(evaluation.deciding().unwrap().layer, "tool_groups");
}

#[test]
fn bash_runs_where_no_rule_names_it_and_cannot_be_switched_off_as_a_group() {
    assert_eq!(
        run(&policy(vec![]), "rm -rf x", &Grants::default()).decision,
        Decision::Allow
    );
    let none = Policy::of_groups(Vec::<String>::new());
    assert_eq!(
        run(&none, "true", &Grants::default()).decision,
        Decision::Allow
    );
}

#[test]
fn the_closest_name_wins_over_globs_and_longer_globs_over_shorter_ones() {
    let rules = vec![
        rule("*", Mode::Ask, &[]),
        rule("github__*", Mode::Off, &[]),
        rule("github__list_*", Mode::Allow, &[]),
        rule("delete_branch", Mode::Ask, &[]),
        rule("github__delete-branch", Mode::Off, &[]),
    ];
    let policy = policy(rules);
    for (name, expected) in [
        ("list_pulls", Decision::Allow),
        ("merge", Decision::Deny),
        ("delete_branch", Decision::Deny),
    ] {
        let tool = tool("github", name, Annotations::default());
        let evaluation = authorize(
            &policy,
            &tool,
            &call(&tool, &json!({})),
            &Grants::default(),
            None,
        );
        assert_eq!(evaluation.decision, expected, "{name}");
    }
    let tool = tool("wakes", "delete_branch", Annotations::default());
    assert_eq!(
        authorize(
            &policy,
            &tool,
            &call(&tool, &json!({})),
            &Grants::default(),
            None
        )
        .decision,
        Decision::Ask
    );
}

#[test]
fn without_a_rule_the_annotations_decide_as_the_mode_says() {
    let cases = [
        (declared(Some(true), None, Some(true)), None, None),
        (
            declared(None, Some(true), None),
            Some(Why::Destructive),
            Some(Why::Mutating),
        ),
        (
            declared(Some(false), None, Some(true)),
            Some(Why::OpenWorld),
            Some(Why::Mutating),
        ),
        (
            declared(Some(false), Some(false), Some(false)),
            None,
            Some(Why::Mutating),
        ),
        (declared(None, None, None), None, Some(Why::Mutating)),
    ];
    for (annotations, normal, protective) in cases {
        let tool = tool("github", "x", annotations);
        for (mode, expected) in [
            (ApprovalMode::Off, None),
            (ApprovalMode::Normal, normal),
            (ApprovalMode::Protective, protective),
        ] {
            let mut policy = policy(vec![]);
            policy.approval = mode;
            let evaluation = authorize(
                &policy,
                &tool,
                &call(&tool, &json!({})),
                &Grants::default(),
                None,
            );
            assert_eq!(evaluation.why, expected, "{annotations:?} {mode:?}");
            assert_eq!(evaluation.decision == Decision::Ask, expected.is_some());
        }
    }
}

fn rating(changes: bool) -> Rating {
    Rating {
        changes,
        says: "my-rater: it says so".to_owned(),
        remedy: "ask another one".to_owned(),
    }
}

/// Why a person is asked about a rated tool, and whether the rating was heeded.
fn rated(says: Annotations, mode: ApprovalMode, rule: Option<Mode>, changes: bool) -> Option<Why> {
    let tool = tool("github", "x", says);
    let rules = rule.map(|mode| self::rule("x", mode, &[]));
    let mut policy = policy(rules.into_iter().collect());
    policy.approval = mode;
    let call = call(&tool, &json!({}));
    let rating = rating(changes);
    let evaluation = authorize(&policy, &tool, &call, &Grants::default(), Some(&rating));
    let of_rater = |rule: &MatchedRule| rule.layer == "[approval] rater";
    let heeded = evaluation.matched.iter().any(of_rater);
    assert_eq!(heeded, policy.heeds_rating(&tool));
    assert_eq!(
        evaluation.decision == Decision::Ask,
        evaluation.why.is_some()
    );
    evaluation.why
}

#[test]
fn a_rating_only_adds_a_question() {
    use ApprovalMode::{Normal, Off, Protective};
    let silent = Annotations::default();
    let reads = declared(Some(true), None, None);
    let destroys = declared(None, Some(true), None);
    assert_eq!(rated(silent, Normal, None, true), Some(Why::RatedChanges));
    assert_eq!(rated(silent, Normal, None, false), None);
    assert_eq!(rated(silent, Protective, None, false), Some(Why::Mutating));
    assert_eq!(rated(silent, Off, None, true), None);
    assert_eq!(rated(silent, Normal, Some(Mode::Allow), true), None);
    assert_eq!(
        rated(silent, Normal, Some(Mode::Ask), false),
        Some(Why::Policy)
    );
    assert_eq!(rated(reads, Normal, None, true), None);
    assert_eq!(rated(destroys, Normal, None, false), Some(Why::Destructive));
}

#[test]
fn a_rating_is_named_with_its_reason_and_remedy_and_yields_to_a_yes_for_good() {
    let tool = tool("github", "x", Annotations::default());
    let call = call(&tool, &json!({}));
    let asked = authorize(
        &policy(vec![]),
        &tool,
        &call,
        &Grants::default(),
        Some(&rating(true)),
    );
    let rule = asked.deciding().unwrap();
    assert_eq!(
        (rule.rule.as_str(), rule.remedy.as_str()),
        ("my-rater: it says so", "ask another one")
    );
    let mut yes = standing(1, Scope::Tool, true);
    (yes.group, yes.tool) = ("github".to_owned(), "x".to_owned());
    let evaluation = authorize(
        &policy(vec![]),
        &tool,
        &call,
        &Grants::of(vec![yes]),
        Some(&rating(true)),
    );
    assert_eq!(evaluation.decision, Decision::Allow);
}

#[test]
fn an_allowlist_lets_through_what_it_lists_and_asks_about_the_rest() {
    let policy = policy(vec![rule(
        "run",
        Mode::Allowlist,
        &["git status", "cargo *", "echo *"],
    )]);
    for (cmd, expected) in [
        ("git status", Decision::Allow),
        ("git status && cargo build --release", Decision::Allow),
        ("git status; rm -rf /", Decision::Ask),
        ("git push", Decision::Ask),
        ("echo $(rm x)", Decision::Ask),
        ("echo hi > out.txt", Decision::Allow),
        ("echo hi > /etc/passwd", Decision::Ask),
        ("eval \"$x\"", Decision::Ask),
    ] {
        assert_eq!(
            run(&policy, cmd, &Grants::default()).decision,
            expected,
            "{cmd}"
        );
    }
}

#[test]
fn variables_of_the_call_are_a_reason_to_ask() {
    let policy = policy(vec![rule("run", Mode::Allowlist, &["git status"])]);
    let tool = tool("bash", "run", Annotations::default());
    let input = json!({"cmd": "git status", "env": {"GIT_PAGER": "rm -rf /"}});
    assert_eq!(
        authorize(
            &policy,
            &tool,
            &call(&tool, &input),
            &Grants::default(),
            None
        )
        .decision,
        Decision::Ask
    );
}

fn standing(id: i64, scope: Scope, allow: bool) -> Standing {
    Standing {
        id,
        group: "bash".to_owned(),
        tool: "run".to_owned(),
        scope,
        allow,
        created_at: Timestamp::default(),
        answered_by: String::new(),
    }
}

#[test]
fn an_always_is_as_narrow_as_what_was_shown() {
    let policy = policy(vec![rule("run", Mode::Ask, &[])]);
    let asked = run(&policy, "git push origin main", &Grants::default());
    assert_eq!(
        asked.scope,
        Scope::Commands(vec!["git push origin main".to_owned()])
    );
    let grants = Grants::of(vec![standing(1, asked.scope, true)]);
    for (cmd, expected) in [
        ("git push origin main", Decision::Allow),
        (
            "git push origin main && git push origin main",
            Decision::Allow,
        ),
        ("git push origin other", Decision::Ask),
        ("git push origin main --force", Decision::Ask),
        ("git push origin main; rm x", Decision::Ask),
        ("git push origin main > /etc/passwd", Decision::Ask),
    ] {
        assert_eq!(run(&policy, cmd, &grants).decision, expected, "{cmd}");
    }
}

#[test]
fn what_cannot_be_read_as_commands_is_remembered_as_this_text_alone() {
    let policy = policy(vec![rule("run", Mode::Ask, &[])]);
    for cmd in ["eval \"$x\"", "echo *", "echo 'a b'", "ls \"$HOME\""] {
        let scope = run(&policy, cmd, &Grants::default()).scope;
        assert_eq!(scope, Scope::Text(cmd.to_owned()), "{cmd}");
        let grants = Grants::of(vec![standing(1, scope, true)]);
        assert_eq!(
            run(&policy, cmd, &grants).decision,
            Decision::Allow,
            "{cmd}"
        );
        assert_eq!(
            run(&policy, &format!("{cmd} "), &grants).decision,
            Decision::Ask,
            "{cmd}"
        );
    }
}

#[test]
fn an_always_for_a_text_does_not_cover_it_with_other_variables() {
    let policy = policy(vec![rule("run", Mode::Ask, &[])]);
    let grants = Grants::of(vec![standing(
        1,
        Scope::Text("eval \"$x\"".to_owned()),
        true,
    )]);
    let tool = tool("bash", "run", Annotations::default());
    for (input, expected) in [
        (json!({"cmd": "eval \"$x\""}), Decision::Allow),
        (json!({"cmd": "eval \"$x\"", "env": {}}), Decision::Allow),
        (
            json!({"cmd": "eval \"$x\"", "env": {"x": "rm -rf ."}}),
            Decision::Ask,
        ),
    ] {
        let evaluation = authorize(&policy, &tool, &call(&tool, &input), &grants, None);
        assert_eq!(evaluation.decision, expected, "{input}");
    }
}

#[test]
fn a_standing_rejection_denies_wherever_its_command_stands() {
    let policy = policy(vec![rule("run", Mode::Allow, &[])]);
    let grants = Grants::of(vec![standing(
        7,
        Scope::Commands(vec!["rm -rf build".to_owned()]),
        false,
    )]);
    let evaluation = run(&policy, "true && (rm -rf build)", &grants);
    assert_eq!(evaluation.decision, Decision::Deny);
    assert_eq!(evaluation.deciding().unwrap().rule, "7");
    assert_eq!(
        run(&policy, "rm -rf other", &grants).decision,
        Decision::Allow
    );
}

#[test]
fn a_yes_for_good_does_not_lift_a_no_of_the_configuration() {
    let policy = policy(vec![rule("run", Mode::Off, &[])]);
    let grants = Grants::of(vec![standing(1, Scope::Tool, true)]);
    assert_eq!(run(&policy, "true", &grants).decision, Decision::Deny);
}

#[test]
fn every_rule_that_took_part_is_named_with_what_would_change_it() {
    let policy = policy(vec![rule("run", Mode::Ask, &[])]);
    let grants = Grants::of(vec![standing(
        3,
        Scope::Commands(vec!["true".to_owned()]),
        true,
    )]);
    let evaluation = run(&policy, "true", &grants);
    let layers: Vec<&str> = evaluation
        .matched
        .iter()
        .map(|rule| rule.layer.as_str())
        .collect();
    assert_eq!(layers, ["[tool.run]", "standing approval"]);
    assert!(
        evaluation
            .matched
            .iter()
            .all(|rule| !rule.remedy.is_empty())
    );
}

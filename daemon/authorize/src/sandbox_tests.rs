use std::path::PathBuf;

use harness_model::{Annotations, CallId, SandboxRules, Standing, Timestamp, Tool};
use serde_json::{Value, json};

use super::*;
use crate::{Decision, Evaluation, Grants, Mode, Policy, ToolRule, Why, authorize};

fn policy(mode: Mode, allowlist: &[&str]) -> Policy {
    let allowlist: Vec<String> = allowlist.iter().map(|&entry| entry.to_owned()).collect();
    let mut rule = ToolRule::new("run", mode, &allowlist).unwrap();
    rule.execute = vec!["/opt/extra".to_owned()];
    let mut policy = Policy::of_groups(["bash"]).with_rules(vec![rule]);
    policy.workspace = PathBuf::from("/srv/w");
    policy.sandbox = SandboxProfile {
        filesystem: Filesystem::WorkspaceWrite,
        rules: SandboxRules {
            writable: Some(vec!["/srv/w".to_owned()]),
            hidden: vec!["/home/u/.ssh".to_owned()],
            no_network: true,
            ..SandboxRules::default()
        },
        workspace_write: vec!["/srv/w".to_owned()],
        listed: Vec::new(),
    };
    policy
}

fn run(policy: &Policy, cmd: &str, sandbox: &Value, grants: &Grants) -> Evaluation {
    let tool = Tool {
        group: "bash".to_owned(),
        name: "run".to_owned(),
        title: None,
        description: String::new(),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations: Annotations::default(),
        direct: true,
    };
    let mut input = json!({"cmd": cmd}).as_object().unwrap().clone();
    if !sandbox.is_null() {
        input.insert("sandbox".to_owned(), sandbox.clone());
    }
    let call = Call {
        id: CallId::generate(),
        group: tool.group.clone(),
        tool: tool.name.clone(),
        input,
        started_at: Timestamp::default(),
        allowance: None,
    };
    authorize(policy, &tool, &call, grants, None)
}

fn decision(policy: &Policy, cmd: &str, sandbox: &Value, grants: &Grants) -> Decision {
    run(policy, cmd, sandbox, grants).decision
}

fn standing(scope: Scope, allow: bool) -> Grants {
    Grants::of(vec![Standing {
        id: 1,
        group: "bash".to_owned(),
        tool: "run".to_owned(),
        scope,
        allow,
        created_at: Timestamp::default(),
        answered_by: String::new(),
    }])
}

#[test]
fn what_an_allowlist_let_through_carries_what_was_read() {
    let policy = policy(Mode::Allowlist, &["ls *", "grep *", "cd *", "env *"]);
    let none = Grants::default();
    let evaluation = run(
        &policy,
        "f() { ls; }; f | env -i grep x",
        &Value::Null,
        &none,
    );
    let allowance = evaluation.allowance.unwrap();
    assert_eq!(allowance.rule, "[tool.run]");
    assert_eq!(allowance.programs, ["env", "grep", "ls"]);
    assert_eq!(allowance.execute, ["/opt/extra"]);
    assert!(!allowance.moves);
    let moves = run(&policy, "cd sub && ls", &Value::Null, &none);
    assert!(moves.allowance.unwrap().moves);
}

#[test]
fn what_runs_for_another_reason_carries_nothing() {
    let none = Grants::default();
    assert_eq!(
        run(&policy(Mode::Allow, &["ls"]), "ls", &Value::Null, &none).allowance,
        None
    );
    let policy = policy(Mode::Allowlist, &["ls"]);
    let asked = run(&policy, "rm x", &Value::Null, &none);
    assert_eq!((asked.decision, asked.allowance), (Decision::Ask, None));
    let answered = standing(asked.scope, true);
    let answered = run(&policy, "rm x", &Value::Null, &answered);
    assert_eq!(
        (answered.decision, answered.allowance),
        (Decision::Allow, None)
    );
    let rejected = standing(Scope::Text("ls".to_owned()), false);
    let rejected = run(&policy, "ls", &Value::Null, &rejected);
    assert_eq!(
        (rejected.decision, rejected.allowance),
        (Decision::Deny, None)
    );
}

#[test]
fn more_than_the_sandbox_gives_is_asked_about_whatever_the_mode() {
    let none = Grants::default();
    let more = [
        json!({"filesystem": "open"}),
        json!({"writable": ["/etc"]}),
        json!({"visible": ["/home/u/.ssh"]}),
        json!({"network": true}),
    ];
    for mode in [Mode::Allow, Mode::Ask, Mode::Allowlist] {
        for sandbox in &more {
            let evaluation = run(&policy(mode, &["ls"]), "ls", sandbox, &none);
            assert_eq!(evaluation.decision, Decision::Ask, "{mode:?} {sandbox}");
            assert_eq!(evaluation.why, Some(Why::Sandbox));
            assert_eq!(evaluation.deciding().unwrap().layer, "[sandbox]");
            assert_eq!(evaluation.allowance, None);
        }
    }
    for sandbox in &more {
        let off = policy(Mode::Off, &[]);
        assert_eq!(decision(&off, "ls", sandbox, &none), Decision::Deny);
    }
    // A call of a tool without any rule, too.
    let mut free = Policy::of_groups(["bash"]);
    free.sandbox = policy(Mode::Allow, &[]).sandbox;
    assert_eq!(decision(&free, "ls", &more[0], &none), Decision::Ask);
}

#[test]
fn as_much_or_less_is_not_asked_about() {
    let none = Grants::default();
    for sandbox in [
        json!({}),
        Value::Null,
        json!({"filesystem": "workspace-write", "writable": ["/srv/w/x"]}),
        json!({"filesystem": "read-only", "network": false, "execute": true}),
        json!({"visible": ["/etc"], "reason": "none"}),
    ] {
        let allow = policy(Mode::Allow, &[]);
        assert_eq!(decision(&allow, "ls", &sandbox, &none), Decision::Allow);
    }
    let listed = policy(Mode::Allowlist, &["ls"]);
    let narrow = run(&listed, "ls", &json!({"filesystem": "read-only"}), &none);
    assert!(narrow.decision == Decision::Allow && narrow.allowance.is_some());
}

#[test]
fn what_an_allowlist_lets_execute_can_be_asked_to_be_more() {
    let none = Grants::default();
    let listed = policy(Mode::Allowlist, &["ls"]);
    let execute = json!({"execute": true});
    assert_eq!(decision(&listed, "ls", &execute, &none), Decision::Ask);
    let allowed = policy(Mode::Allow, &["ls"]);
    assert_eq!(decision(&allowed, "ls", &execute, &none), Decision::Allow);
}

#[test]
fn a_yes_for_good_covers_what_was_opened_and_nothing_else() {
    let policy = policy(Mode::Ask, &[]);
    let network = json!({"network": true, "reason": "one"});
    let plain = run(&policy, "ls", &Value::Null, &Grants::default()).scope;
    let opened = run(&policy, "ls", &network, &Grants::default()).scope;
    let yes_to_plain = standing(plain, true);
    let yes_to_opened = standing(opened, true);
    let both = json!({"network": true, "filesystem": "open"});
    for (grants, cmd, sandbox, expected) in [
        (&yes_to_plain, "ls", &Value::Null, Decision::Allow),
        (&yes_to_plain, "ls", &network, Decision::Ask),
        (&yes_to_opened, "ls", &network, Decision::Allow),
        (
            &yes_to_opened,
            "ls",
            &json!({"network": true}),
            Decision::Allow,
        ),
        (&yes_to_opened, "rm x", &network, Decision::Ask),
        (&yes_to_opened, "ls", &Value::Null, Decision::Ask),
        (&yes_to_opened, "ls", &both, Decision::Ask),
    ] {
        assert_eq!(
            decision(&policy, cmd, sandbox, grants),
            expected,
            "{cmd} {sandbox}"
        );
    }
    let everything = standing(Scope::Tool, true);
    assert_eq!(
        decision(&policy, "ls", &network, &everything),
        Decision::Ask
    );
}

#[test]
fn a_no_for_good_reaches_whatever_opens_as_much_or_more() {
    let policy = policy(Mode::Allow, &[]);
    let network = json!({"network": true});
    let plain = run(&policy, "ls", &Value::Null, &Grants::default()).scope;
    let opened = run(&policy, "ls", &network, &Grants::default()).scope;
    let no_to_plain = standing(plain, false);
    let no_to_opened = standing(opened, false);
    let both = json!({"network": true, "filesystem": "open"});
    let other = json!({"filesystem": "open"});
    for (grants, sandbox, expected) in [
        (&no_to_plain, &Value::Null, Decision::Deny),
        (&no_to_plain, &network, Decision::Deny),
        (&no_to_opened, &Value::Null, Decision::Allow),
        (&no_to_opened, &network, Decision::Deny),
        (&no_to_opened, &both, Decision::Deny),
        (&no_to_opened, &other, Decision::Ask),
    ] {
        assert_eq!(
            decision(&policy, "ls", sandbox, grants),
            expected,
            "{sandbox}"
        );
    }
}

#[test]
fn a_request_that_cannot_be_read_is_asked_about() {
    let policy = policy(Mode::Allow, &[]);
    let evaluation = run(&policy, "ls", &json!({"all": true}), &Grants::default());
    assert_eq!(evaluation.decision, Decision::Ask);
}

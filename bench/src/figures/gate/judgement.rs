//! One judgement, in this process, beside the least that is done when it says yes: `bash -c true`.

use harness_authorize::{Decision, Grants, Mode, Policy, ToolRule, authorize};
use harness_model::{Annotations, Call, CallId, Scope, Standing, Timestamp, Tool};
use serde_json::{Map, json};

use crate::{
    bare::Bare,
    effort::Effort,
    figure::{Figure, Limit, seconds},
    figures::Report,
    host,
    sample::{self, by_turns},
};

/// What an agent writes in one go: 40 lines with most of what bash has.
const SCRIPT: &str = include_str!("script.sh");

/// Enough of them that the clock is exact.
const TOGETHER: u32 = 50;

/// The share of `bash -c true` that a judgement may take.
const MOST: f64 = 0.03;

/// What the script uses, among others.
const ALLOWLIST: [&str; 37] = [
    "[ *",
    "awk *",
    "basename *",
    "cargo *",
    "cat *",
    "cat",
    "cd *",
    "cmp *",
    "cut *",
    "date",
    "diff *",
    "dirname *",
    "echo *",
    "exit *",
    "find src *",
    "git diff *",
    "git log *",
    "git status *",
    "grep *",
    "head *",
    "ls *",
    "make *",
    "mkdir *",
    "printf *",
    "pwd",
    "read *",
    "report *",
    "sed *",
    "set *",
    "sort *",
    "tail *",
    "tee *",
    "tr *",
    "true",
    "uniq *",
    "wc *",
    "which *",
];

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let scratch = host::scratch();
    let bare = Bare::new(scratch.path());
    let (policy, grants) = (policy(scratch.path()), grants());
    assert_eq!(SCRIPT.lines().count(), 40);
    for (name, cmd) in [("a command", "cargo build --release"), ("40 lines", SCRIPT)] {
        let (tool, call) = call(cmd);
        let judge = || authorize(&policy, &tool, &call, &grants, None);
        let said = judge();
        assert_eq!(said.decision, Decision::Allow, "{said:#?}");
        let [judged, spawned] = by_turns(
            effort.count(300),
            effort.patience(),
            [
                &mut || {
                    let all = sample::seconds(|| {
                        for _ in 0..TOGETHER {
                            std::hint::black_box(judge());
                        }
                    });
                    all / f64::from(TOGETHER)
                },
                &mut || sample::seconds(|| drop(bare.run("true"))),
            ],
        );
        report(Figure::ratio(
            format!("judging {name}, beside bash -c true"),
            judged,
            spawned,
            seconds,
            Limit::AtMost(MOST),
        ));
    }
}

/// Rules as a careful person has them.
fn policy(workspace: &std::path::Path) -> Policy {
    let rule = |name: &str, mode, list: &[&str]| {
        let list: Vec<String> = list.iter().map(|&entry| entry.to_owned()).collect();
        ToolRule::new(name, mode, &list).unwrap()
    };
    let rules = vec![
        rule("*", Mode::Ask, &[]),
        rule("github__*", Mode::Ask, &[]),
        rule("github__list_*", Mode::Allow, &[]),
        rule("github__delete_repository", Mode::Off, &[]),
        rule("wakes__*", Mode::Allow, &[]),
        rule("shell", Mode::Allowlist, &ALLOWLIST),
        rule("bash__run", Mode::Allowlist, &ALLOWLIST),
        rule("stop", Mode::Allow, &[]),
    ];
    let mut policy = Policy::of_groups(["shell", "wakes", "github"]).with_rules(rules);
    workspace.clone_into(&mut policy.workspace);
    policy
}

/// Answers for good as they gather: some about this tool, and none about this call.
fn grants() -> Grants {
    let standing = |id: i64| Standing {
        id,
        group: "bash".to_owned(),
        tool: "run".to_owned(),
        scope: Scope::Commands(vec![format!("deploy stage-{id}")]),
        allow: id % 4 != 0,
        created_at: Timestamp::default(),
        answered_by: "uid 1000".to_owned(),
    };
    Grants::of((1..=20).map(standing).collect())
}

fn call(cmd: &str) -> (Tool, Call) {
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
    let call = Call {
        id: CallId::generate(),
        group: tool.group.clone(),
        tool: tool.name.clone(),
        input: Map::from_iter([("cmd".to_owned(), json!(cmd))]),
        started_at: Timestamp::default(),
        allowance: None,
    };
    (tool, call)
}

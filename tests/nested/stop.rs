//! A script that has to stop stops, and its result says what it had done.

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{script, stdout};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        nothing_after_a_call_that_needs_a_person_runs,
        a_script_with_a_certain_call_that_needs_a_person_does_not_start,
        the_plan_says_what_each_call_would_meet,
        an_allowlisted_script_calls_tools_and_each_call_is_judged_by_itself,
        a_one_off_yes_lets_a_new_script_make_that_call_once,
        a_call_that_a_person_rejected_stops_the_script,
        the_call_after_the_last_one_allowed_stops_the_script_however_many_come_at_once,
        a_script_that_fails_after_it_changed_something_says_so,
        the_report_is_there_after_a_restart,
        a_stopped_script_is_not_restarted,
        calls_of_a_script_are_recorded_under_it_and_published,
    ]
}

const ASK: &str = "tool_groups = [\"shell\", \"wakes\"]\n[tool.shell]\nmode = \"ask\"\n";

fn nothing_after_a_call_that_needs_a_person_runs() {
    let harness = Harness::with_config(ASK);
    for (number, before) in [
        "",
        "trap 'touch after' EXIT TERM INT HUP; ",
        "(while :; do [ -e go ] && touch after; done) & ",
        "setsid -f sh -c 'while :; do [ -e go ] && touch after; done'; ",
        "nohup sh -c 'while :; do [ -e go ] && touch after; done' >/dev/null & ",
    ]
    .into_iter()
    .enumerate()
    {
        // Built as it runs, so that the script starts.
        let call = format!("tools shell cmd=\"echo {number} $PPID\"");
        for text in [
            format!("{before}{call}; touch after"),
            format!("{before}{call} || touch after"),
            format!("{before}{call} | xargs touch after"),
            format!("{before}while :; do {call}; touch after; done"),
        ] {
            let status = script(&harness, &text);
            assert_eq!(status["status"], "stopped", "{text}: {status}");
            let stopped = &status["tools"]["stopped"];
            assert_eq!(stopped["reason"], "needs_approval", "{text}: {status}");
            assert_eq!(stopped["call"]["tool"], "tools shell shell", "{text}");
            // What is still there could act now.
            std::fs::write(harness.workspace().join("go"), "").unwrap();
            script(&harness, "sleep 0.05");
            let after = harness.workspace().join("after");
            assert!(!after.exists(), "{text}");
            std::fs::remove_file(harness.workspace().join("go")).unwrap();
            std::fs::remove_file(after).unwrap_or_default();
        }
    }
}

fn a_script_with_a_certain_call_that_needs_a_person_does_not_start() {
    let harness = Harness::with_config(ASK);
    let mut session = harness.mcp(Some("bash"));
    let input = json!({"cmd": "touch begun; tools shell cmd='echo a' | cat; tools shell cmd='echo one'\ntools shell cmd='echo two'", "wait_seconds": 30});
    let refused = session.call("run", &input);
    let error = &refused["structuredContent"]["error"];
    assert_eq!(error["code"], "needs_approval", "{refused}");
    let tools = &error["details"]["tools"];
    assert_eq!(tools["stopped"]["before_start"], true, "{error}");
    assert_eq!(
        tools["stopped"]["call"],
        json!({"tool": "tools shell shell", "input": {"cmd": "echo one"}})
    );
    assert_eq!(tools["stopped"]["line"], 1);
    assert_eq!(tools["done"], json!([]));
    assert!(!harness.workspace().join("begun").exists());
    let pending = harness.get("/v1/approvals");
    assert_eq!(
        pending.as_array().unwrap().len(),
        2,
        "both are asked at once: {pending}"
    );
    for approval in pending.as_array().unwrap() {
        harness.ctl(&["approve", &approval["id"].to_string()]).ok();
    }
    // Now it starts, stops at the call that was not certain, and the yes for the others is left.
    let status = session.ok("run", &input);
    assert_eq!(
        status["tools"]["stopped"]["call"]["input"],
        json!({"cmd": "echo a"}),
        "{status}"
    );
    let rest = json!({"cmd": "tools shell cmd='echo one'\ntools shell cmd='echo two'", "wait_seconds": 30});
    assert_eq!(session.ok("run", &rest)["exit_code"], 0);
}

fn the_plan_says_what_each_call_would_meet() {
    let harness = Harness::with_config(
        "tool_groups = [\"shell\", \"wakes\"]\n[tool.shell]\nmode = \"ask\"\n[tool.signal]\nmode = \"off\"\n",
    );
    let text = "tools plan <<'EOF'\ntools list limit=1\ntools bash run cmd=true\ntools shell cmd=x\ntools signal id=00000000 signal=TERM\ntools list limit=$N\ntools nothing\nEOF";
    let status = script(&harness, text);
    let plan: Value =
        serde_json::from_str(stdout(&status)).unwrap_or_else(|error| panic!("{error}: {status}"));
    let calls: Vec<_> = plan["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            (
                call["tool"].as_str().unwrap(),
                call["risk"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("tools bash list", "read_only"),
            ("tools bash run", "changes"),
            ("tools shell shell", "needs_approval"),
            ("tools bash signal", "blocked"),
            ("tools bash list", "checked_at_run_time"),
            ("tools nothing", "blocked"),
        ]
    );
    assert_eq!(plan["calls"][2]["why"], "policy");
    assert_eq!(plan["calls"][2]["input"], json!({"cmd": "x"}));
    assert_eq!(
        (&plan["calls"][2]["where"], &plan["calls"][2]["line"]),
        (&json!("script"), &json!(3))
    );
    assert_eq!(plan["complete"], true);
    assert_eq!(
        harness.get("/v1/approvals"),
        json!([]),
        "a plan asks nobody"
    );
    let hidden = script(&harness, "echo 'eval \"$X\"' | tools plan");
    assert_eq!(
        serde_json::from_str::<Value>(stdout(&hidden)).unwrap()["complete"],
        false
    );
}

fn an_allowlisted_script_calls_tools_and_each_call_is_judged_by_itself() {
    let harness = Harness::with_config(
        "tool_groups = [\"shell\", \"wakes\"]\n[tool.run]\nmode = \"allowlist\"\nallowlist = [\"grep *\", \"touch *\"]\n\
         [tool.shell]\nmode = \"ask\"\n[approval]\nhold_sec = 0\n",
    );
    let status = script(&harness, "tools list limit=1 | grep -c tasks");
    assert_eq!(stdout(&status), "1\n", "{status}");
    let status = script(&harness, "tools shell cmd=\"echo $PPID\"; touch after");
    assert_eq!(
        status["tools"]["stopped"]["reason"], "needs_approval",
        "{status}"
    );
    assert!(!harness.workspace().join("after").exists());
    // Another program of that name is not the command.
    for other in [
        "./tools list",
        "tools() { rm x; }; tools list",
        "env -i tools list",
    ] {
        let refused = harness
            .mcp(Some("bash"))
            .call("run", &json!({"cmd": other}));
        assert_eq!(
            refused["structuredContent"]["error"]["code"], "needs_approval",
            "{other}: {refused}"
        );
    }
}

fn a_one_off_yes_lets_a_new_script_make_that_call_once() {
    let harness = Harness::with_config(ASK);
    let text = "tools list limit=1 >/dev/null; tools bash run cmd='echo one' >/dev/null; tools shell cmd='echo two' | grep -c two";
    let status = script(&harness, text);
    let report = &status["tools"];
    assert_eq!(report["read_only_calls"], 1, "{status}");
    assert_eq!(report["done"][0]["tool"], "tools bash run");
    assert_eq!(report["done"][0]["input"], json!({"cmd": "echo one"}));
    assert_eq!(report["done"][0]["ok"], true);
    assert_eq!(report["done"][0]["result"]["stdout"]["tail"], "one\n");
    assert!(report["not_reached"].is_string());
    let approval = report["stopped"]["approval"].to_string();
    harness.ctl(&["approve", &approval]).ok();
    let status = script(&harness, text);
    assert_eq!(
        (stdout(&status), &status["exit_code"]),
        ("1\n", &json!(0)),
        "{status}"
    );
    let status = script(&harness, text);
    assert_eq!(status["status"], "stopped", "once: {status}");
    assert_ne!(status["tools"]["stopped"]["approval"].to_string(), approval);
}

fn a_call_that_a_person_rejected_stops_the_script() {
    let harness = Harness::with_config(ASK);
    let text = "tools shell cmd=\"echo no $PPID\"; touch after";
    let status = script(&harness, text);
    let approval = status["tools"]["stopped"]["approval"].to_string();
    harness.ctl(&["reject", &approval]).ok();
    let status = script(&harness, text);
    assert_eq!(status["status"], "stopped", "{status}");
    assert_eq!(status["tools"]["stopped"]["reason"], "denied");
    assert!(!harness.workspace().join("after").exists());
}

fn the_call_after_the_last_one_allowed_stops_the_script_however_many_come_at_once() {
    let harness = Harness::start();
    let status = script(
        &harness,
        "for n in $(seq 50); do tools list limit=$n >/dev/null || exit 7; done; echo all",
    );
    assert_eq!(stdout(&status), "all\n", "{status}");
    let status = script(
        &harness,
        "for n in $(seq 51); do tools list limit=$n >/dev/null; done; touch after",
    );
    assert_eq!(
        status["tools"]["stopped"]["reason"], "call_limit",
        "{status}"
    );
    assert_eq!(status["tools"]["read_only_calls"], 50);
    let status = script(
        &harness,
        "seq 60 | xargs -P8 -I{} tools list limit={} >/dev/null; touch after",
    );
    assert_eq!(
        status["tools"]["stopped"]["reason"], "call_limit",
        "{status}"
    );
    assert!(!harness.workspace().join("after").exists());
    let calls = harness.get("/v1/calls?tool=list&state=ok&limit=1000");
    assert!(
        calls["items"].as_array().unwrap().len() <= 150,
        "no script made more than 50"
    );
}

fn a_script_that_fails_after_it_changed_something_says_so() {
    let harness = Harness::start();
    let status = script(&harness, "tools bash run cmd=true >/dev/null; exit 3");
    assert_eq!(status["exit_code"], 3);
    assert_eq!(
        status["tools"]["done"][0]["tool"], "tools bash run",
        "{status}"
    );
    assert_eq!(status["tools"]["stopped"], Value::Null);
    let status = script(&harness, "tools bash run cmd=true >/dev/null");
    assert_eq!(status["tools"], Value::Null, "all went well: {status}");
    let status = script(&harness, "exit 3");
    assert_eq!(status["tools"], Value::Null, "it called nothing: {status}");
}

fn the_report_is_there_after_a_restart() {
    let mut harness = Harness::with_config(ASK);
    let status = script(&harness, "tools shell cmd=\"echo $PPID\"");
    let id = status["id"].as_str().unwrap().to_owned();
    harness.kill_daemon();
    harness.start_daemon();
    let again = harness.mcp(Some("bash")).ok("status", &json!({"id": id}));
    assert_eq!(again["tools"], status["tools"]);
    assert!(status["tools"]["stopped"].is_object());
}

fn a_stopped_script_is_not_restarted() {
    let harness = Harness::with_config(ASK);
    let input = json!({
        "cmd": "echo run >> runs; tools shell cmd=\"echo $PPID\"",
        "wait_seconds": 30,
        "unit": {"restart": "always", "restart_sec": 0},
    });
    let status = harness.mcp(Some("bash")).ok("run", &input);
    assert_eq!(status["status"], "stopped", "{status}");
    assert_eq!(
        std::fs::read_to_string(harness.workspace().join("runs")).unwrap(),
        "run\n"
    );
}

fn calls_of_a_script_are_recorded_under_it_and_published() {
    let harness = Harness::start();
    let mut events = harness.events();
    script(
        &harness,
        "tools list limit=3 >/dev/null; tools bash status id=00000000",
    );
    let calls = harness.get("/v1/calls?tool=run");
    let parent = calls["items"][0]["id"].as_str().unwrap();
    let nested = harness.get(&format!("/v1/calls?parent={parent}"));
    let nested: Vec<_> = nested["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (&call["tool"], &call["state"], &call["front"]))
        .collect();
    assert_eq!(
        nested,
        [
            (&json!("status"), &json!("refused"), &json!("tools")),
            (&json!("list"), &json!("ok"), &json!("tools")),
        ]
    );
    let event = events.next("nested_call");
    assert_eq!(event["parent"], parent, "{event}");
    assert_eq!(event["command"], "tools bash list");
    assert_eq!(event["input"], json!({"limit": 3}));
    assert_eq!(event["state"], "ok");
}

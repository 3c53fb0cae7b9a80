//! `post_call`: let through, rewrite, withhold.

use harness_tests::{mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{KEEP, asked, newest, start, was_asked};
use crate::mcp::protocol::{bash, declaring, gated, open_gate};

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = trials![
        a_hook_after_a_call_knows_how_it_went,
        a_withheld_result_reaches_nobody_and_is_not_in_the_record,
        hooks_after_a_call_run_in_their_order,
        a_rewritten_result_has_to_be_one_of_the_tool,
        a_call_that_was_not_made_has_no_result_to_be_asked_about,
        the_result_of_an_mcp_task_goes_through_the_hooks_too,
    ];
    all.extend(trials![
        if jq_missing();
        a_rewritten_result_is_what_the_caller_and_the_record_have,
        the_hooks_of_the_documentation_do_what_it_says,
    ]);
    all
}

fn jq_missing() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join("jq").exists());
    (!found).then(|| "there is no jq".to_owned())
}

const SHELL: &str = "[tool.shell]\nmode = \"allow\"\n";

fn a_hook_after_a_call_knows_how_it_went() {
    let harness = start(SHELL, &[("post_call", KEEP, "")]);
    let mut session = harness.mcp(None);
    session.ok("shell__shell", &json!({"cmd": "echo out; exit 3"}));
    let question = asked(&harness, 1);
    assert_eq!(question["event"], "post_call", "{question}");
    assert_eq!(question["input"]["cmd"], "echo out; exit 3", "{question}");
    let outcome = &question["outcome"];
    assert_eq!(outcome["result"]["structured"]["exitCode"], 3, "{outcome}");
    let content = &outcome["result"]["content"];
    assert!(content.to_string().contains("out"), "{outcome}");
    assert!(outcome.get("error").is_none(), "{outcome}");
    // A tool that ran and failed has an outcome, too.
    session.call("bash__status", &json!({"id": "aaaaaaaa"}));
    let outcome = &asked(&harness, 1)["outcome"];
    assert!(outcome["error"]["message"].is_string(), "{outcome}");
    assert!(outcome.get("result").is_none(), "{outcome}");
}

fn a_withheld_result_reaches_nobody_and_is_not_in_the_record() {
    let withhold = r#"echo '{"decision":"withhold","reason":"it names a customer"}'"#;
    let harness = start(SHELL, &[("post_call", withhold, "tools = [\"shell\"]")]);
    let input = json!({"cmd": "echo Smi''th; touch ran"});
    let result = harness.mcp(Some("shell")).call("shell", &input);
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(
        result["structuredContent"]["error"]["message"],
        "the call was made, but hook 1 (hook1) withholds its result: it names a customer"
    );
    assert!(!result.to_string().contains("Smith"), "{result}");
    assert!(harness.workspace().join("ran").exists());
    let call = newest(&harness);
    assert_eq!(call["state"], "failed", "it ran: {call}");
    let preview = call["preview"].as_str().unwrap();
    assert!(preview.ends_with("it names a customer"), "{call}");
    assert!(!call.to_string().contains("Smith"), "{call}");
    let shown = harness.ctl(&["shell", "echo Smi''th"]);
    assert!(
        shown.code != 0 && shown.stderr.contains("names a customer"),
        "{shown:?}"
    );
}

/// Writes another result whatever it was.
fn instead(result: &Value) -> String {
    format!("echo '{}'", json!({ "result": result }))
}

fn a_rewritten_result_is_what_the_caller_and_the_record_have() {
    // As one would do it: the names are cut out of what is there.
    let cut = r#"jq -c '.outcome.result | .structured.stdout |= gsub("Smith"; "S.") | .content |= map(.text |= gsub("Smith"; "S.")) | {result: .}'"#;
    let harness = start(SHELL, &[("post_call", cut, "tools = [\"shell\"]")]);
    let input = json!({"cmd": "echo Smi''th; exit 3"});
    let result = harness.mcp(Some("shell")).call("shell", &input);
    assert_eq!(result["structuredContent"]["stdout"], "S.\n", "{result}");
    assert_eq!(result["structuredContent"]["exitCode"], 3, "{result}");
    assert!(!result.to_string().contains("Smith"), "{result}");
    let call = newest(&harness);
    assert_eq!(call["state"], "ok", "{call}");
    let preview = call["preview"].as_str().unwrap();
    assert!(
        preview.contains("S.") && !preview.contains("Smith"),
        "{call}"
    );
}

fn hooks_after_a_call_run_in_their_order() {
    let first = instead(&json!({"content": [{"type": "text", "text": "first"}], "is_error": true}));
    let second = format!("{KEEP}; echo '{{\"decision\":\"withhold\"}}'");
    let harness = start(
        "",
        &[
            ("post_call", &first, ""),
            ("post_call", &second, ""),
            ("post_call", KEEP, ""),
        ],
    );
    let result = harness.mcp(Some("bash")).call("list", &json!({}));
    assert!(
        text(&result).contains("hook 2 (hook2) withholds"),
        "{result}"
    );
    let outcome = &asked(&harness, 2)["outcome"];
    assert_eq!(
        outcome["result"]["content"][0]["text"], "first",
        "{outcome}"
    );
    assert_eq!(outcome["state"], "failed", "{outcome}");
    assert!(!was_asked(&harness, 3));
}

fn a_rewritten_result_has_to_be_one_of_the_tool() {
    for result in [
        json!({"content": [{"type": "text", "text": "nothing else"}]}),
        json!({"content": [], "structured": {"exit_code": "0"}}),
    ] {
        let harness = start("", &[("post_call", &instead(&result), "")]);
        let refused = harness
            .mcp(Some("bash"))
            .call("run", &json!({"cmd": "true"}));
        assert!(text(&refused).contains("output schema"), "{refused}");
        assert_eq!(refused["structuredContent"]["error"]["code"], "tool_error");
    }
}

fn a_call_that_was_not_made_has_no_result_to_be_asked_about() {
    let config =
        "[approval]\nhold_sec = 0\n[tool.run]\nmode = \"ask\"\n[tool.stop]\nmode = \"off\"\n";
    let harness = start(config, &[("post_call", KEEP, "")]);
    let mut session = harness.mcp(Some("bash"));
    session.call("run", &json!({"cmd": "true"}));
    session.call("stop", &json!({"id": "aaaaaaaa"}));
    session.call("list", &json!({"nonsense": 1}));
    assert!(!was_asked(&harness, 1));
    session.call("list", &json!({}));
    assert!(was_asked(&harness, 1));
}

fn the_hooks_of_the_documentation_do_what_it_says() {
    let scripts: Vec<&str> = include_str!("../../docs/hooks.md")
        .split("```bash\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    let [refuse, cut] = scripts[..] else {
        panic!("{scripts:?}")
    };
    let harness = start(
        SHELL,
        &[
            ("pre_call", refuse, "tools = [\"run\", \"shell\"]"),
            ("post_call", cut, "tools = [\"shell\"]"),
        ],
    );
    let mut session = harness.mcp(None);
    let refused = session.call("bash__run", &json!({"cmd": "git  push origin main"}));
    assert!(
        text(&refused).contains("pushing is for people"),
        "{refused}"
    );
    session.ok("bash__run", &json!({"cmd": "git --version"}));
    let result = session.call("shell__shell", &json!({"cmd": "echo Smi''th"}));
    assert_eq!(result["structuredContent"]["stdout"], "S.\n", "{result}");
    assert!(!result.to_string().contains("Smith"), "{result}");
}

fn the_result_of_an_mcp_task_goes_through_the_hooks_too() {
    let withhold =
        "grep -q 'Smith' && echo '{\"decision\":\"withhold\",\"reason\":\"a name\"}'; true";
    let harness = start(
        "tool_groups = [\"wakes\"]\n",
        &[("post_call", withhold, "tools = [\"status\"]")],
    );
    let mut session = bash(&harness);
    let arguments = json!({"cmd": "read x < gate; echo Smi''th", "wait_seconds": 0});
    let id = gated(&harness, &mut session, &arguments);
    open_gate(&harness);
    let mut wakes = harness.mcp(Some("wakes"));
    wakes.ok("wakes_recv", &json!({"wait_seconds": 60}));
    let task = declaring(&mut session, "tasks/get", json!({"taskId": id}));
    assert!(!task.to_string().contains("Smith"), "{task}");
    assert!(
        task.to_string().contains("withholds its result: a name"),
        "{task}"
    );
}

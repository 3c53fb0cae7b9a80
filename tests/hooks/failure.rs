//! Hooks that are of no use, and `on_error`.

use harness_tests::{event, harness::PATIENCE, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{configure, newest, start};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_hook_that_fails_before_a_call_blocks_it_or_is_passed_over,
        a_hook_that_fails_after_a_call_withholds_its_result_or_is_passed_over,
        a_hook_that_hangs_is_killed_with_all_that_it_started,
    ]
}

/// Scripts that are of no use, with what is said of each. The hooks have a quarter of a second.
const FAILURES: [(&str, &str); 10] = [
    ("exit 3", "it ended with exit code 3"),
    ("echo no such luck >&2; exit 1", "exit code 1: no such luck"),
    (
        "head -c 100000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 1",
        "xxx",
    ),
    (
        "echo '{\"decision\":\"deny\"}'; kill -TERM $$",
        "it ended with signal SIGTERM",
    ),
    ("echo yes", "it is no JSON object"),
    ("echo '{\"decision\":\"maybe\"}'", "maybe"),
    ("echo '{\"decison\":\"deny\"}'", "decison"),
    ("printf '{\"reason\":\"\\xff\"}'", "it is not UTF-8"),
    ("yes | head -c 20000000; exec sleep 1000", "longer than"),
    (
        "exec sleep 1000",
        "it did not answer within 250ms and was killed",
    ),
];

fn a_hook_that_fails_before_a_call_blocks_it_or_is_passed_over() {
    let harness = start("", &[]);
    let mut session = harness.mcp(Some("bash"));
    for (number, (script, said)) in FAILURES.iter().enumerate() {
        // What takes long to write has long to be read.
        let time = if said.contains("250ms") { "0.25" } else { "20" };
        for on_error in ["block", "allow"] {
            let keys = format!("timeout_sec = {time}\non_error = \"{on_error}\"");
            configure(&harness, "", &[("pre_call", script, &keys)]);
            harness.ctl(&["reload"]).ok();
            let file = format!("ran{number}");
            let result = session.call("run", &json!({"cmd": format!("touch {file}")}));
            let ran = harness.workspace().join(&file).exists();
            assert_eq!(ran, on_error == "allow", "{script}: {result}");
            if on_error == "allow" {
                assert_eq!(
                    result["structuredContent"]["exit_code"], 0,
                    "{script}: {result}"
                );
                continue;
            }
            let error = &result["structuredContent"]["error"];
            assert_eq!(error["code"], "denied", "{script}: {result}");
            assert!(text(&result).contains(said), "{script}: {result}");
            assert!(text(&result).len() < 3000, "{script}: {result}");
            assert_eq!(newest(&harness)["state"], "refused", "{script}");
        }
    }
}

fn a_hook_that_fails_after_a_call_withholds_its_result_or_is_passed_over() {
    let harness = start("", &[]);
    let mut session = harness.mcp(Some("bash"));
    for (number, (script, said)) in FAILURES.iter().enumerate() {
        let time = if said.contains("250ms") { "0.25" } else { "20" };
        for on_error in ["block", "allow"] {
            let keys = format!("timeout_sec = {time}\non_error = \"{on_error}\"");
            configure(&harness, "", &[("post_call", script, &keys)]);
            harness.ctl(&["reload"]).ok();
            let cmd = format!("echo {on_error}; touch ran{number}{on_error}");
            let result = session.call("run", &json!({"cmd": cmd}));
            let ran = harness.workspace().join(format!("ran{number}{on_error}"));
            assert!(ran.exists(), "{script}: {result}");
            if on_error == "allow" {
                assert!(text(&result).contains("allow\n"), "{script}: {result}");
                continue;
            }
            let error = &result["structuredContent"]["error"];
            assert_eq!(error["code"], "tool_error", "{script}: {result}");
            for part in ["the call was made", "hook 1 (hook1) failed", said] {
                assert!(text(&result).contains(part), "{script}: {result}");
            }
            let call = newest(&harness);
            assert_eq!(call["state"], "failed", "{call}");
        }
    }
}

fn a_hook_that_hangs_is_killed_with_all_that_it_started() {
    let hang = "trap '' TERM\n(trap '' TERM; echo $BASHPID > \"$0.child\"; exec setsid sleep 1000) &\n\
                echo $$ > \"$0.pid\"; while :; do sleep 1000; done";
    let harness = start("", &[("pre_call", hang, "timeout_sec = 1")]);
    let refused = harness.mcp(Some("bash")).call("list", &json!({}));
    assert!(text(&refused).contains("within 1s"), "{refused}");
    for name in ["hook1.pid", "hook1.child"] {
        let text = event::file(&harness.path(name), PATIENCE, |text| text.ends_with('\n'));
        event::ended(text.trim().parse().unwrap(), PATIENCE);
    }
}

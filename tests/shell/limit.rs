//! How long it may take, and what ends with it.

use harness_tests::{event, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{ALLOWED, recorded, run, start};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_command_that_takes_too_long_is_ended_and_its_real_duration_told,
        a_command_that_ignores_the_signal_is_killed_five_seconds_later,
        the_kill_signal_is_the_configured_one,
        a_limit_is_clamped_before_the_call_is_judged,
        the_most_specific_rule_sets_the_limits,
        what_a_command_leaves_behind_ends_with_it,
        a_call_that_is_taken_back_ends_its_command,
        a_person_who_goes_away_ends_their_command,
        a_command_whose_daemon_died_is_ended_by_the_next_one,
    ]
}

/// The details of a call that ran out of time.
#[track_caller]
fn timed_out(harness: &Harness, input: &Value) -> Value {
    let result = harness.mcp(Some("shell")).call("shell", input);
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "tool_error", "{result}");
    assert_eq!(error["details"]["code"], "ETIMEDOUT", "{result}");
    assert_eq!(error["retryable"], false);
    error["details"].clone()
}

fn a_command_that_takes_too_long_is_ended_and_its_real_duration_told() {
    let harness = start();
    let cmd = "echo begun; (echo $BASHPID > pid; exec sleep 1000) & wait";
    let details = timed_out(&harness, &json!({"cmd": cmd, "timeoutMs": 700}));
    let duration = details["durationMs"].as_u64().unwrap();
    assert!((700..5000).contains(&duration), "{details}");
    assert_eq!(details["timeoutMs"], 700);
    assert_eq!(details["stdout"], "begun\n");
    let pid = std::fs::read_to_string(harness.workspace().join("pid")).unwrap();
    assert!(!event::lives(pid.trim().parse().unwrap()));
    let call = &harness.get("/v1/calls")["items"][0];
    assert_eq!(
        (&call["state"], &call["code"]),
        (&json!("failed"), &json!("tool_error"))
    );
}

fn a_command_that_ignores_the_signal_is_killed_five_seconds_later() {
    let harness = start();
    let cmd = "trap '' TERM; echo $$ > pid; while :; do sleep 1000; done";
    let details = timed_out(&harness, &json!({"cmd": cmd, "timeoutMs": 300}));
    let duration = details["durationMs"].as_u64().unwrap();
    assert!((5300..20_000).contains(&duration), "{details}");
    let pid = std::fs::read_to_string(harness.workspace().join("pid")).unwrap();
    assert!(!event::lives(pid.trim().parse().unwrap()));
}

fn the_kill_signal_is_the_configured_one() {
    let harness =
        Harness::with_config(&format!("{ALLOWED}[bash.unit]\nkill_signal = \"SIGINT\"\n"));
    let cmd =
        "trap 'echo interrupted; exit' INT; trap 'echo terminated; exit' TERM; sleep 1000 & wait";
    let details = timed_out(&harness, &json!({"cmd": cmd, "timeoutMs": 300}));
    assert_eq!(details["stdout"], "interrupted\n", "{details}");
}

fn a_limit_is_clamped_before_the_call_is_judged() {
    let limits = "default_timeout_ms = 2000\nmax_timeout_ms = 3000\n";
    let harness = Harness::with_config(&format!("{ALLOWED}{limits}"));
    let mut session = harness.mcp(Some("shell"));
    for (timeout, expected) in [
        (json!(null), 2000),
        (json!(1500), 1500),
        (json!(3001), 3000),
        (json!(i64::MAX), 3000),
        (json!(0), 1),
        (json!(-5), 1),
    ] {
        let mut input = json!({"cmd": format!("true {timeout}")});
        if !timeout.is_null() {
            input["timeoutMs"] = timeout.clone();
        }
        session.call("shell", &input);
        assert_eq!(recorded(&harness)["timeoutMs"], expected, "{timeout}");
    }
}

fn the_most_specific_rule_sets_the_limits() {
    let rules = "[tool.\"*\"]\nmode = \"allow\"\ndefault_timeout_ms = 1111\n\
                 [tool.shell__shell]\nmode = \"allow\"\ndefault_timeout_ms = 2222\n";
    let harness = Harness::with_config(rules);
    run(&mut harness.mcp(Some("shell")), "true");
    assert_eq!(recorded(&harness)["timeoutMs"], 2222);
    harness.write_config("[tool.\"*\"]\nmode = \"allow\"\n");
    harness.ctl(&["reload"]).ok();
    run(&mut harness.mcp(Some("shell")), "true");
    assert_eq!(recorded(&harness)["timeoutMs"], 30_000);
}

fn what_a_command_leaves_behind_ends_with_it() {
    let harness = start();
    let cmd = "setsid sh -c '(echo $$ > pid; exec sleep 1000) &' ; while ! [ -s pid ]; do sleep 0.01; done; echo done";
    let result = run(&mut harness.mcp(Some("shell")), cmd);
    assert_eq!(result["stdout"], "done\n", "{result}");
    assert!(result["leftOver"].as_u64().unwrap() >= 1, "{result}");
    let pid = std::fs::read_to_string(harness.workspace().join("pid")).unwrap();
    assert!(!event::lives(pid.trim().parse().unwrap()));
}

const ENDLESS: &str = "echo $$ > pid; exec sleep 1000";

/// Waits until the endless command runs.
fn pid(harness: &Harness) -> i32 {
    let text = event::file(&harness.workspace().join("pid"), PATIENCE, |text| {
        text.ends_with('\n')
    });
    text.trim().parse().unwrap()
}

fn a_call_that_is_taken_back_ends_its_command() {
    let harness = start();
    let mut session = harness.mcp(Some("shell"));
    let input = json!({"cmd": ENDLESS, "timeoutMs": 600_000});
    let call = session.begin("tools/call", &json!({"name": "shell", "arguments": input}));
    let pid = pid(&harness);
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    event::ended(pid, PATIENCE);
    session.request("ping", &json!({}));
    assert_eq!(harness.get("/v1/calls")["items"][0]["state"], "cancelled");
}

fn a_person_who_goes_away_ends_their_command() {
    let harness = start();
    let mut stream =
        std::os::unix::net::UnixStream::connect(harness.runtime().join("control.sock")).unwrap();
    let body = json!({"cmd": ENDLESS, "timeoutMs": 600_000}).to_string();
    let request = format!(
        "POST /v1/tools/shell/call HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let pid = pid(&harness);
    drop(stream);
    event::ended(pid, PATIENCE);
}

fn a_command_whose_daemon_died_is_ended_by_the_next_one() {
    let mut harness = start();
    let mut session = harness.mcp(Some("shell"));
    let input = json!({"cmd": ENDLESS, "timeoutMs": 600_000});
    session.begin("tools/call", &json!({"name": "shell", "arguments": input}));
    let pid = pid(&harness);
    harness.kill_daemon();
    assert!(event::lives(pid));
    harness.start_daemon();
    event::ended(pid, PATIENCE);
    assert_eq!(
        harness.get("/v1/calls")["items"][0]["state"],
        "outcome_unknown"
    );
}

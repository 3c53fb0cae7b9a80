//! Bad input to every tool: a clear error, and nothing lost.

use harness_tests::{harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        every_wrong_input_is_refused_with_the_signature_and_starts_nothing,
        a_wait_beyond_the_ceiling_is_clamped,
        an_id_that_never_was_is_named,
        a_command_too_long_for_the_kernel_says_what_to_do,
        more_tasks_than_allowed_are_refused_and_may_be_tried_later,
    ]
}

#[expect(clippy::too_many_lines, reason = "one table of inputs")]
fn every_wrong_input_is_refused_with_the_signature_and_starts_nothing() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let cases: &[(&str, Value, &str)] = &[
        ("run", json!({}), "cmd"),
        ("run", json!({"cmd": 5}), "run("),
        ("run", json!({"cmd": null}), "run("),
        ("run", json!({"cmd": ["ls"]}), "run("),
        ("run", json!({"cmd": "true", "wait": 1}), "wait"),
        (
            "run",
            json!({"cmd": "true", "wait_seconds": "3"}),
            "wait_seconds",
        ),
        (
            "run",
            json!({"cmd": "true", "wait_seconds": -1}),
            "wait_seconds",
        ),
        (
            "run",
            json!({"cmd": "true", "timeout_secs": 0}),
            "timeout_secs",
        ),
        ("run", json!({"cmd": "true", "env": {"A": 5}}), "env"),
        ("run", json!({"cmd": "true", "env": {"A=B": "x"}}), "env"),
        ("run", json!({"cmd": "true", "env": {"A": "\0"}}), "env"),
        ("run", json!({"cmd": ""}), "cmd"),
        ("run", json!({"cmd": " \n"}), "cmd"),
        ("run", json!({"cmd": "a\0b"}), "NUL"),
        ("run", json!({"cmd": "true", "cwd": "no/such/place"}), "cwd"),
        ("run", json!({"cmd": "true", "cwd": "/etc/passwd"}), "cwd"),
        (
            "run",
            json!({"cmd": "true", "unit": {"restart": "sometimes"}}),
            "restart",
        ),
        (
            "run",
            json!({"cmd": "true", "unit": {"restrat": "no"}}),
            "restrat",
        ),
        (
            "run",
            json!({"cmd": "true", "unit": {"restart_sec": "soon"}}),
            "restart_sec",
        ),
        (
            "run",
            json!({"cmd": "true", "unit": {"restart_steps": 3}}),
            "restart_max_delay_sec",
        ),
        ("status", json!({}), "status("),
        ("status", json!({"id": 5}), "status("),
        ("status", json!({"id": "../../etc"}), "id"),
        ("list", json!({"limit": 0}), "limit"),
        ("list", json!({"limit": 1_000_000}), "limit"),
        (
            "output",
            json!({"id": "aaaaaaaa", "stream": "stdin"}),
            "stream",
        ),
        (
            "output",
            json!({"id": "aaaaaaaa", "stream": "stdout", "offset": -1}),
            "offset",
        ),
        (
            "signal",
            json!({"id": "aaaaaaaa", "signal": "NOPE"}),
            "signal",
        ),
        ("stop", json!({"id": "aaaaaaaa", "force": true}), "force"),
    ];
    for (tool, input, part) in cases {
        let result = session.call(tool, input);
        assert_eq!(result["isError"], true, "{tool} {input}: {result}");
        assert!(
            text(&result).contains(part),
            "{tool} {input}: {}",
            text(&result)
        );
        assert_eq!(
            result["structuredContent"]["error"]["retryable"], false,
            "{tool} {input}: {result}"
        );
    }
    assert_eq!(session.ok("list", &json!({}))["tasks"], json!([]));
}

fn a_wait_beyond_the_ceiling_is_clamped() {
    let harness = Harness::with_config("[bash]\nmax_wait_sec = 0.2\n");
    let mut session = harness.mcp(Some("bash"));
    let result = session.call("run", &json!({"cmd": "sleep 1000", "wait_seconds": 1e300}));
    assert!(text(&result).starts_with("task started"), "{result}");
}

fn an_id_that_never_was_is_named() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    for tool in ["status", "stop"] {
        let result = session.call(tool, &json!({"id": "zzzzzzzz"}));
        assert_eq!(result["isError"], true);
        assert!(
            text(&result).contains("there is no task zzzzzzzz"),
            "{result}"
        );
    }
}

fn a_command_too_long_for_the_kernel_says_what_to_do() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let result = session.call(
        "run",
        &json!({"cmd": format!("true {}", "x".repeat(1 << 20))}),
    );
    assert_eq!(result["isError"], true);
    assert!(
        text(&result).contains("131071") && text(&result).contains("write it to a file"),
        "{}",
        text(&result)
    );
    let longest = format!("true {}", "x".repeat(131_071 - 5));
    assert_eq!(session.ok("run", &json!({"cmd": longest}))["exit_code"], 0);
}

fn more_tasks_than_allowed_are_refused_and_may_be_tried_later() {
    let harness = Harness::with_config("[bash]\nmax_tasks = 2\n");
    let mut session = harness.mcp(Some("bash"));
    let ids: Vec<_> = (0..2)
        .map(|_| session.ok("run", &json!({"cmd": "sleep 1000", "wait_seconds": 0}))["id"].clone())
        .collect();
    let result = session.call("run", &json!({"cmd": "true"}));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "unavailable",
        "{result}"
    );
    assert_eq!(result["structuredContent"]["error"]["retryable"], true);
    session.ok("stop", &json!({"id": ids[0]}));
    assert_eq!(session.ok("run", &json!({"cmd": "true"}))["exit_code"], 0);
}

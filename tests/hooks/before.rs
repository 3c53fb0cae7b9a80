//! `pre_call`: allow, rewrite, deny.

use harness_tests::{harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{KEEP, asked, configure, newest, start, was_asked};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_hook_that_says_nothing_lets_the_call_through_and_knows_who_calls_what,
        a_refusal_names_hook_and_reason_on_every_front_and_in_the_record,
        a_rewritten_input_is_what_is_asked_about_carried_out_and_recorded,
        the_rules_judge_what_the_hook_wrote,
        hooks_run_in_their_order_and_each_sees_what_the_one_before_wrote,
        a_hook_is_asked_about_its_tools_alone,
        what_does_not_fit_or_repeats_itself_reaches_no_hook,
        an_input_that_a_hook_wrote_is_validated_and_completed,
        an_explanation_names_the_hooks_and_runs_none,
        a_reload_changes_the_hooks,
        what_is_secret_stays_out_of_the_record_whoever_wrote_it,
    ]
}

/// Writes another command whatever it was.
fn instead(cmd: &str) -> String {
    format!(
        "echo '{}'",
        json!({"input": {"cmd": cmd, "wait_seconds": 30}})
    )
}

fn a_hook_that_says_nothing_lets_the_call_through_and_knows_who_calls_what() {
    let harness = start("", &[("pre_call", KEEP, "")]);
    std::fs::create_dir(harness.workspace().join("sub")).unwrap();
    let mut session = harness.mcp(Some("bash"));
    let input = json!({"cmd": "echo hi", "cwd": "sub"});
    assert_eq!(session.ok("run", &input)["exit_code"], 0);
    let question = asked(&harness, 1);
    let call = newest(&harness);
    for (key, expected) in [
        ("event", json!("pre_call")),
        ("call", call["id"].clone()),
        ("parent", json!(null)),
        ("session", call["session"].clone()),
        ("front", json!("mcp")),
        ("uid", json!(nix::unistd::geteuid().as_raw())),
        ("group", json!("bash")),
        ("tool", json!("run")),
        ("input", input),
        ("cwd", json!(harness.workspace().join("sub"))),
    ] {
        assert_eq!(question[key], expected, "{key}: {question}");
    }
    assert_eq!(question["annotations"]["readOnlyHint"], false, "{question}");
    assert!(question.get("outcome").is_none(), "{question}");
    assert!(call.get("asked").is_none(), "{call}");
    // The person's calls go the same way.
    harness.ctl(&["call", "bash__list"]).ok();
    let question = asked(&harness, 1);
    assert_eq!(question["front"], "http", "{question}");
    assert_eq!(question["annotations"]["readOnlyHint"], true, "{question}");
}

fn a_refusal_names_hook_and_reason_on_every_front_and_in_the_record() {
    let deny = r#"echo '{"decision":"deny","reason":"not on a Friday"}'"#;
    let harness = start("", &[("pre_call", deny, "")]);
    let result = harness
        .mcp(Some("bash"))
        .call("run", &json!({"cmd": "touch ran"}));
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "denied", "{result}");
    assert_eq!(error["retryable"], false, "{result}");
    let expected = "hook 1 (hook1) refuses this call: not on a Friday";
    assert_eq!(error["message"], expected, "{result}");
    assert_eq!(error["details"]["hook"], "hook 1 (hook1)", "{result}");
    let call = newest(&harness);
    assert_eq!(call["state"], "refused", "{call}");
    assert_eq!(call["code"], "denied", "{call}");
    assert_eq!(call["preview"], expected, "{call}");
    let reply = harness.http("POST", "/v1/tasks", Some(r#"{"cmd":"touch ran"}"#));
    assert_eq!(reply.status, 403, "{reply:?}");
    for words in [
        &["run", "--wait=30", "--", "touch ran"][..],
        &["call", "bash__run", "cmd=touch ran"],
    ] {
        let refused = harness.ctl(words);
        assert!(
            refused.code != 0 && refused.stderr.contains("Friday"),
            "{refused:?}"
        );
    }
    assert!(!harness.workspace().join("ran").exists());
}

fn a_rewritten_input_is_what_is_asked_about_carried_out_and_recorded() {
    let rules = "[tool.run]\nmode = \"ask\"\n[approval]\nhold_sec = 0\n";
    let harness = start(rules, &[("pre_call", &instead("touch rewritten"), "")]);
    let mut events = harness.events();
    let mut session = harness.mcp(Some("bash"));
    let input = json!({"cmd": "touch original"});
    let refused = session.call("run", &input);
    let approval = &refused["structuredContent"]["error"]["details"]["approval"];
    let card = harness.get("/v1/approvals")[0].clone();
    assert_eq!(card["input"]["cmd"], "touch rewritten", "{card}");
    assert_eq!(card["scope"]["value"], json!(["touch rewritten"]), "{card}");
    harness.ctl(&["approve", &approval.to_string()]).ok();
    assert_eq!(session.ok("run", &input)["exit_code"], 0);
    assert!(harness.workspace().join("rewritten").exists());
    assert!(!harness.workspace().join("original").exists());

    let listed = harness.ctl(&["--json", "calls", "--limit", "1"]).ok();
    let call = listed.json()["items"][0].clone();
    assert_eq!(call["asked"], input, "{call}");
    assert_eq!(call["input"]["cmd"], "touch rewritten", "{call}");
    assert_eq!(call["state"], "ok", "{call}");
    let table = harness.ctl(&["calls"]).ok().stdout;
    let told = r#"(asked: {"cmd":"touch original"})"#;
    assert!(
        table.contains("touch rewritten") && table.contains(told),
        "{table}"
    );
    // The event of the call, then that of what became of it.
    let of_call = |event: &serde_json::Value| event["event"] == "tool_call";
    let first = events.find(of_call);
    assert_eq!(first["input"], input, "{first}");
    assert!(first.get("asked").is_none(), "{first}");
    let second = events.find(of_call);
    assert_eq!(second["call"], first["call"], "{second}");
    assert_eq!(second["asked"], input, "{second}");
    assert_eq!(second["input"]["cmd"], "touch rewritten", "{second}");
}

fn the_rules_judge_what_the_hook_wrote() {
    let rules =
        "[approval]\nhold_sec = 0\n[tool.run]\nmode = \"allowlist\"\nallowlist = [\"echo *\"]\n";
    for (cmd, rewritten, runs) in [
        ("echo harmless", "touch ran", false),
        ("rm -rf x", "echo harmless", true),
    ] {
        let harness = start(rules, &[("pre_call", &instead(rewritten), "")]);
        let result = harness.mcp(Some("bash")).call("run", &json!({"cmd": cmd}));
        let code = &result["structuredContent"]["error"]["code"];
        assert_eq!(code == "needs_approval", !runs, "{cmd}: {result}");
        assert!(!harness.workspace().join("ran").exists());
    }
}

fn hooks_run_in_their_order_and_each_sees_what_the_one_before_wrote() {
    let first = format!("{KEEP}; {}", instead("echo one"));
    let second = format!("{KEEP}; {}", instead("echo two"));
    let deny = format!("{KEEP}; echo '{{\"decision\":\"deny\"}}'");
    let harness = start(
        "",
        &[
            ("pre_call", &first, ""),
            ("pre_call", &second, ""),
            ("pre_call", KEEP, ""),
        ],
    );
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "echo zero"}));
    assert_eq!(status["stdout"]["tail"], "two\n", "{status}");
    let seen: Vec<_> = (1..=3)
        .map(|number| asked(&harness, number)["input"]["cmd"].clone())
        .collect();
    assert_eq!(seen, ["echo zero", "echo one", "echo two"]);
    // What one refuses, the next never hears of.
    let harness = start("", &[("pre_call", &deny, ""), ("pre_call", KEEP, "")]);
    let refused = harness.mcp(Some("bash")).call("list", &json!({}));
    assert!(text(&refused).contains("it gives no reason"), "{refused}");
    assert!(was_asked(&harness, 1) && !was_asked(&harness, 2));
}

fn a_hook_is_asked_about_its_tools_alone() {
    let hooks = [
        ("pre_call", KEEP, "tools = [\"shell\"]"),
        ("pre_call", KEEP, "tools = [\"bash__l*\", \"wakes__*\"]"),
        ("pre_call", KEEP, "tools = [\"wakes-recv\", \"list\"]"),
    ];
    let harness = prepared_plain(&hooks[..2]);
    let mut session = harness.mcp(None);
    session.ok("bash__run", &json!({"cmd": "true"}));
    assert!(!was_asked(&harness, 1) && !was_asked(&harness, 2));
    session.ok("bash__list", &json!({}));
    assert!(!was_asked(&harness, 1) && was_asked(&harness, 2));
    session.call("shell__shell", &json!({"cmd": "true"}));
    assert!(was_asked(&harness, 1));
}

fn prepared_plain(hooks: &[super::Hook<'_>]) -> Harness {
    start("[tool.shell]\nmode = \"allow\"\n", hooks)
}

fn what_does_not_fit_or_repeats_itself_reaches_no_hook() {
    let count = "echo >> \"$0.asked\"";
    let harness = start("", &[("pre_call", count, "")]);
    let times = || {
        let text = std::fs::read_to_string(harness.path("hook1.asked"));
        text.unwrap_or_default().lines().count()
    };
    let mut session = harness.mcp(Some("bash"));
    session.call("run", &json!({"cmd": 5}));
    session.call("list", &json!({"nonsense": 1}));
    let reply = session.request("tools/call", &json!({"name": "nope", "arguments": {}}));
    assert!(reply.to_string().contains("nope"), "{reply}");
    assert_eq!(times(), 0);
    for _ in 0..3 {
        session.ok("list", &json!({}));
    }
    let refused = session.call("list", &json!({}));
    assert!(text(&refused).contains("ELOOP"), "{refused}");
    assert_eq!(times(), 3);
}

fn an_input_that_a_hook_wrote_is_validated_and_completed() {
    let config = "[tool.shell]\nmode = \"allow\"\nmax_timeout_ms = 5000\n";
    let written = r#"echo '{"input":{"cmd":"echo hi","timeoutMs":600000}}'"#;
    let harness = start(config, &[("pre_call", written, ""), ("pre_call", KEEP, "")]);
    let mut session = harness.mcp(Some("shell"));
    session.ok("shell", &json!({"cmd": "true"}));
    // The limits hold for hooks, too.
    assert_eq!(asked(&harness, 2)["input"]["timeoutMs"], 5000);
    assert_eq!(newest(&harness)["input"]["timeoutMs"], 5000);
    for (written, fault) in [
        (r#"{"input":{"cmd":5}}"#, "cmd"),
        (r#"{"input":{}}"#, "cmd"),
        (r#"{"input":{"cmd":"true","cwd":"/etc"}}"#, "EOUTSIDE"),
    ] {
        let script = format!("echo '{written}'");
        for (keys, goes_on) in [("", false), ("on_error = \"allow\"", true)] {
            configure(&harness, config, &[("pre_call", &script, keys)]);
            harness.ctl(&["reload"]).ok();
            let result = session.call("shell", &json!({"cmd": format!("echo {}", written.len())}));
            let error = &result["structuredContent"]["error"];
            if goes_on {
                assert_eq!(result["structuredContent"]["exitCode"], 0, "{result}");
                assert!(newest(&harness).get("asked").is_none());
            } else {
                assert_eq!(error["code"], "denied", "{result}");
                let message = error["message"].as_str().unwrap();
                assert!(message.contains("hook 1 (hook1) failed"), "{message}");
                assert!(message.contains("does not fit"), "{message}");
                assert!(message.contains(fault), "{message}");
            }
        }
    }
}

fn an_explanation_names_the_hooks_and_runs_none() {
    let harness = start(
        "",
        &[
            ("post_call", KEEP, "tools = [\"bash__*\"]"),
            ("pre_call", KEEP, "on_error = \"allow\""),
            ("pre_call", KEEP, "tools = [\"shell\"]"),
        ],
    );
    let explained = harness.ctl(&["--json", "explain", "run", "rm -rf x"]).ok();
    let hooks = explained.json()["hooks"].clone();
    let path = |number: u32| json!([harness.path(&format!("hook{number}"))]);
    assert_eq!(
        hooks,
        json!([
            {"number": 2, "event": "pre_call", "command": path(2), "on_error": "allow"},
            {"number": 1, "event": "post_call", "command": path(1), "on_error": "block"},
        ])
    );
    let text = harness.ctl(&["explain", "run", "rm -rf x"]).ok().stdout;
    assert!(
        text.contains("hook 2: pre_call: ") && text.contains("not run"),
        "{text}"
    );
    assert!(!(1..=3).any(|number| was_asked(&harness, number)));
}

fn a_reload_changes_the_hooks() {
    let deny = r#"echo '{"decision":"deny","reason":"no"}'"#;
    let harness = start("", &[]);
    let mut session = harness.mcp(Some("bash"));
    session.ok("list", &json!({}));
    configure(&harness, "", &[("pre_call", deny, "")]);
    harness.ctl(&["reload"]).ok();
    assert_eq!(session.call("list", &json!({}))["isError"], true);
    // One that is not there is refused, and what was in force stays so.
    std::fs::remove_file(harness.path("hook1")).unwrap();
    let refused = harness.ctl(&["reload"]);
    assert!(
        refused.code != 0 && refused.stderr.contains("hook1"),
        "{refused:?}"
    );
    let result = session.call("status", &json!({"id": "aaaaaaaa"}));
    assert!(text(&result).contains("cannot be started"), "{result}");
    configure(&harness, "", &[]);
    harness.ctl(&["reload"]).ok();
    session.ok("list", &json!({}));
}

fn what_is_secret_stays_out_of_the_record_whoever_wrote_it() {
    const SECRET: &str = "hunter2-hunter2-hunter2";
    let rewrite = instead(&format!("echo {SECRET} > out"));
    let deny = format!("echo '{{\"decision\":\"deny\",\"reason\":\"{SECRET}\"}}'");
    let fail = format!("echo {SECRET} >&2; exit 1");
    for (script, code) in [
        (rewrite, None),
        (deny, Some("denied")),
        (fail, Some("denied")),
    ] {
        let mut harness = super::prepared("trace = true\n", &[("pre_call", &script, "")]);
        let mut daemon = harness.daemon_command();
        daemon.env("DEPLOY_TOKEN", SECRET);
        harness.start_with(daemon);
        let mut session = harness.mcp(Some("bash"));
        let result = session.call("run", &json!({"cmd": "echo plain"}));
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["code"].as_str(), code, "{result}");
        let call = newest(&harness).to_string();
        let redacted = "[redacted DEPLOY_TOKEN]";
        assert!(call.contains(redacted) && !call.contains(SECRET), "{call}");
        if code.is_some() {
            // Nor is it told to the agent.
            assert!(!result.to_string().contains(SECRET), "{result}");
        } else {
            let out = std::fs::read_to_string(harness.workspace().join("out")).unwrap();
            assert_eq!(out, format!("{SECRET}\n"), "what runs is what was written");
        }
        assert_eq!(harness.stop_daemon(), 0);
        let trace = std::fs::read_to_string(harness.state().join("trace.ndjson")).unwrap();
        assert!(!trace.contains(SECRET), "{trace}");
        assert!(!harness.log().contains(SECRET), "{}", harness.log());
    }
}

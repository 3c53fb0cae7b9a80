//! Approvals asked in the agent's own client.

use std::time::Duration;

use harness_tests::{clients, command, harness::Harness, mcp::Session, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::stateless;
use crate::mcp::http;

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = trials![
        whoever_answers_first_wins_and_the_others_form_is_taken_back,
        a_form_that_is_dismissed_leaves_the_question_to_a_person,
        an_always_is_offered_only_where_it_is_as_narrow_as_the_card,
        an_always_that_was_not_offered_is_no_answer,
        the_form_is_the_card_with_control_and_bidi_characters_escaped,
        a_call_that_is_over_takes_its_form_back,
        a_client_is_asked_only_while_the_configuration_says_so,
    ];
    all.extend(trials![if clients::python_missing();
        the_python_sdk_answers_over_stdio_in_a_session,
        the_python_sdk_answers_over_stdio_without_a_session,
        the_python_sdk_answers_over_http_in_a_session,
        the_python_sdk_answers_over_http_without_a_session,
        the_python_sdk_is_not_asked_when_it_cannot_be_or_the_configuration_does_not_say_so,
        a_client_inside_a_task_is_never_asked,
    ]);
    all
}

pub(super) const CONFIG: &str = "tool_groups = [\"shell\", \"wakes\"]\n[tool.\"*\"]\nmode = \"ask\"\n[tool.run]\nmode = \"allow\"\n\
     [limits]\nidentical_calls = 1\n[approval]\nhold_sec = 60\nelicitation = true\n";

/// The capability of a client that shows forms.
pub(super) fn forms() -> Value {
    json!({"elicitation": {}})
}

fn session(harness: &Harness, group: &str) -> Session {
    Session::open_declaring(&harness.runtime().join("mcp.sock"), Some(group), &forms())
}

fn shell(cmd: &str) -> Value {
    json!({"name": "shell", "arguments": {"cmd": cmd}})
}

/// Makes a call and waits for its form.
fn asked(session: &mut Session, call: &Value) -> (i64, Value) {
    let call = session.begin("tools/call", call);
    (call, session.notification("elicitation/create"))
}

pub(super) fn newest(harness: &Harness) -> Value {
    harness.get("/v1/approvals?all=true")[0].clone()
}

fn whoever_answers_first_wins_and_the_others_form_is_taken_back() {
    let harness = Harness::with_config(CONFIG);
    let mut session = session(&harness, "shell");
    let (call, form) = asked(&mut session, &shell("echo first"));
    let id = newest(&harness)["id"].to_string();
    harness.ctl(&["approve", &id]).ok();
    let result = session.reply(call)["result"].clone();
    assert_eq!(result["structuredContent"]["stdout"], "first\n", "{result}");
    let back = session.notification("notifications/cancelled");
    assert_eq!(back["params"]["requestId"], form["id"], "{back}");
    // Too late, and it does no harm.
    session.answer(&form, &json!({"action": "decline"}));
    let (call, form) = asked(&mut session, &shell("echo second"));
    session.answer(
        &form,
        &json!({"action": "accept", "content": {"answer": "allow"}}),
    );
    let result = session.reply(call)["result"].clone();
    assert_eq!(
        result["structuredContent"]["stdout"], "second\n",
        "{result}"
    );
    let id = newest(&harness)["id"].to_string();
    let late = harness.ctl(&["reject", &id]);
    assert!(
        late.code != 0 && late.stderr.contains("used already"),
        "{late:?}"
    );
    let approvals = harness.get("/v1/approvals?all=true");
    let by = |place: usize| text_of(&approvals[place]["answered_by"]).to_owned();
    assert!(by(1).starts_with("uid "), "{approvals}");
    assert!(by(0).starts_with("elicitation: session "), "{approvals}");
    assert!(by(0).ends_with("client \"test\""), "{approvals}");
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn a_form_that_is_dismissed_leaves_the_question_to_a_person() {
    let harness = Harness::with_config(CONFIG);
    let mut session = session(&harness, "shell");
    for dismissal in [json!({"action": "cancel"}), json!({"nonsense": 1})] {
        let (call, form) = asked(&mut session, &shell(&format!("echo {dismissal}")));
        session.answer(&form, &dismissal);
        // What is answered after that is answered by a person.
        session.request("ping", &json!({}));
        let id = newest(&harness)["id"].to_string();
        assert_eq!(newest(&harness)["state"], "pending");
        harness.ctl(&["reject", &id]).ok();
        let result = session.reply(call)["result"].clone();
        assert_eq!(
            result["structuredContent"]["error"]["code"], "denied",
            "{result}"
        );
    }
}

fn an_always_is_offered_only_where_it_is_as_narrow_as_the_card() {
    let harness = Harness::with_config(&CONFIG.replace("[tool.run]\nmode = \"allow\"\n", ""));
    let all = json!(["allow", "reject", "allow_always", "reject_always"]);
    let once = json!(["allow", "reject"]);
    for (group, call, offered) in [
        ("shell", shell("echo one"), &all),
        ("shell", shell("echo $(x)"), &all),
        (
            "bash",
            json!({"name": "run", "arguments": {"cmd": "echo one", "env": {"A": "1"}}}),
            &once,
        ),
        (
            "wakes",
            json!({"name": "wakes_recv", "arguments": {}}),
            &once,
        ),
    ] {
        let (_, form) = asked(&mut session(&harness, group), &call);
        let field = &form["params"]["requestedSchema"]["properties"]["answer"];
        assert_eq!(field["enum"], *offered, "{form}");
    }
    let mut session = session(&harness, "shell");
    let (call, form) = asked(&mut session, &shell("echo always"));
    session.answer(
        &form,
        &json!({"action": "accept", "content": {"answer": "allow_always"}}),
    );
    session.reply(call);
    let result = session.call("shell", &json!({"cmd": "echo always; echo always"}));
    assert_eq!(result["structuredContent"]["exitCode"], 0, "{result}");
    let standing = harness.get("/v1/approvals/standing");
    assert!(
        text_of(&standing[0]["answered_by"]).starts_with("elicitation"),
        "{standing}"
    );
}

fn an_always_that_was_not_offered_is_no_answer() {
    let harness = Harness::with_config(CONFIG);
    let mut session = session(&harness, "wakes");
    let call = json!({"name": "wakes_recv", "arguments": {"wait_seconds": 0}});
    let (call, form) = asked(&mut session, &call);
    session.answer(
        &form,
        &json!({"action": "accept", "content": {"answer": "allow_always"}}),
    );
    session.request("ping", &json!({}));
    assert_eq!(newest(&harness)["state"], "pending");
    harness
        .ctl(&["approve", &newest(&harness)["id"].to_string()])
        .ok();
    assert_ne!(session.reply(call)["result"]["isError"], true);
    assert_eq!(harness.get("/v1/approvals/standing"), json!([]));
}

fn the_form_is_the_card_with_control_and_bidi_characters_escaped() {
    let harness = Harness::with_config(CONFIG);
    let mut session = session(&harness, "shell");
    let call = json!({"name": "shell", "arguments": {"cmd": "echo \u{202e}live\u{1b}[2K\r # safe", "timeoutMs": 1_000_000_000}});
    let (_, form) = asked(&mut session, &call);
    let message = text_of(&form["params"]["message"]);
    assert!(
        !message.contains(['\u{202e}', '\u{1b}', '\r']),
        "{message:?}"
    );
    let workspace = harness.workspace().display().to_string();
    for part in [
        "\\u{202e}live\\u{1b}[2K\\r # safe",
        "timeoutMs: 600000",
        "[tool.*] mode = \"ask\"",
        &workspace,
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let card = harness.ctl(&["approvals"]).ok().stdout;
    let (_, card) = card.split_once('\n').unwrap();
    assert!(message.ends_with(card), "{message}\n{card}");
}

fn a_call_that_is_over_takes_its_form_back() {
    let harness = Harness::with_config(&CONFIG.replace("hold_sec = 60", "hold_sec = 2"));
    let mut session = session(&harness, "shell");
    let (call, form) = asked(&mut session, &shell("touch ran"));
    let result = session.reply(call)["result"].clone();
    assert_eq!(
        result["structuredContent"]["error"]["code"], "needs_approval",
        "{result}"
    );
    assert_eq!(
        session.notification("notifications/cancelled")["params"]["requestId"],
        form["id"]
    );
    session.answer(&form, &json!({"action": "accept"}));
    session.request("ping", &json!({}));
    assert_eq!(
        newest(&harness)["state"],
        "pending",
        "nothing waited for that answer any more"
    );
    assert!(!harness.workspace().join("ran").exists());
}

fn a_client_is_asked_only_while_the_configuration_says_so() {
    let harness = Harness::with_config(
        &CONFIG
            .replace("elicitation = true", "")
            .replace("60", "0.1"),
    );
    let mut open = session(&harness, "shell");
    let refused = open.call("shell", &json!({"cmd": "echo one"}));
    assert!(
        text(&refused).contains("a person has to answer"),
        "{refused}"
    );
    assert!(
        open.notifications
            .iter()
            .all(|message| message["method"] != "elicitation/create")
    );
    harness.write_config(CONFIG);
    harness.ctl(&["reload"]).ok();
    let (call, form) = asked(&mut open, &shell("echo two"));
    open.answer(&form, &json!({"action": "accept"}));
    assert_eq!(
        open.reply(call)["result"]["structuredContent"]["stdout"],
        "two\n"
    );
}

/// What the Python SDK was asked, and what came of its calls.
fn sdk(harness: &Harness, servers: &Value, mode: &str, calls: &Value) -> Value {
    let config = harness.path("servers.json");
    std::fs::write(&config, servers.to_string()).unwrap();
    let mut client = clients::python("sdk_elicit.py");
    client.arg(config).arg(mode).arg(calls.to_string());
    command::run(client, b"", Duration::from_mins(2))
        .ok()
        .json()
}

fn stdio(harness: &Harness) -> Value {
    harness
        .ctl(&["mcp-config", "--client", "claude"])
        .ok()
        .json()
}

fn over_http(port: u16) -> Value {
    let url = format!("http://127.0.0.1:{port}/mcp/group/shell");
    let headers = json!({"Authorization": format!("Bearer {}", http::TOKEN)});
    json!({"mcpServers": {"shell": {"url": url, "headers": headers}}})
}

/// A harness that asks in clients, with a listener.
fn with_listener(config: &str) -> (Harness, u16) {
    let port = http::free_port();
    let mut harness = Harness::prepared("");
    let listener = http::config(&harness.path(""), port).replace("tool_groups = [\"wakes\"]\n", "");
    harness.write_config(&format!("{config}{listener}"));
    harness.start_daemon();
    (harness, port)
}

fn the_python_sdk_answers(harness: &Harness, servers: &Value, mode: &str) {
    let accept = |answer: &str| json!({"action": "accept", "content": {"answer": answer}});
    let calls = json!([
        {"cmd": "echo accepted", "reply": accept("allow")},
        {"cmd": "touch declined", "reply": {"action": "decline"}},
        {"cmd": "touch rejected", "reply": accept("reject")},
        {"cmd": "echo always", "reply": accept("allow_always")},
        {"cmd": "echo always; echo always"},
        {"cmd": "touch cancelled", "reply": {"action": "cancel"}},
    ]);
    let report = sdk(harness, servers, mode, &calls);
    let version = if mode == "legacy" {
        "2025-11-25"
    } else {
        "2026-07-28"
    };
    assert_eq!(report["version"], version, "{report}");
    let results = report["results"].as_array().unwrap();
    assert_eq!(results[0]["stdout"], "accepted\n", "{report}");
    assert_eq!(results[4]["stdout"], "always\nalways\n", "{report}");
    for (place, code) in [(1, "denied"), (2, "denied"), (5, "needs_approval")] {
        assert_eq!(results[place]["error"]["code"], code, "{report}");
    }
    let asked = report["asked"].as_array().unwrap();
    assert_eq!(asked.len(), 5, "{report}");
    assert!(
        text_of(&asked[0]["message"]).contains("timeoutMs: 600000"),
        "{report}"
    );
    let approvals = harness.get("/v1/approvals?all=true");
    let states: Vec<&str> = approvals
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|one| text_of(&one["state"]))
        .collect();
    assert_eq!(
        states,
        ["used", "rejected", "rejected", "used", "pending"],
        "{approvals}"
    );
    for place in 1..5 {
        let by = text_of(&approvals[place]["answered_by"]);
        assert!(by.starts_with("elicitation: session "), "{by}");
    }
    for absent in ["declined", "rejected", "cancelled"] {
        assert!(!harness.workspace().join(absent).exists(), "{absent}");
    }
}

/// What was dismissed is held a little for a person.
fn quick() -> String {
    CONFIG.replace("hold_sec = 60", "hold_sec = 5")
}

fn the_python_sdk_answers_over_stdio_in_a_session() {
    let harness = Harness::with_config(&quick());
    the_python_sdk_answers(&harness, &stdio(&harness), "legacy");
}

fn the_python_sdk_answers_over_stdio_without_a_session() {
    let harness = Harness::with_config(&quick());
    the_python_sdk_answers(&harness, &stdio(&harness), "auto");
}

fn the_python_sdk_answers_over_http_in_a_session() {
    let (harness, port) = with_listener(&quick());
    the_python_sdk_answers(&harness, &over_http(port), "legacy");
}

fn the_python_sdk_answers_over_http_without_a_session() {
    let (harness, port) = with_listener(&quick());
    the_python_sdk_answers(&harness, &over_http(port), "auto");
}

fn the_python_sdk_is_not_asked_when_it_cannot_be_or_the_configuration_does_not_say_so() {
    let on = CONFIG.replace("hold_sec = 60", "hold_sec = 0.1");
    let off = on.replace("elicitation = true", "elicitation = false");
    let accept = json!({"action": "accept"});
    for (config, call) in [
        (on, json!({"cmd": "touch ran"})),
        (off, json!({"cmd": "touch ran", "reply": accept})),
    ] {
        let (harness, port) = with_listener(&config);
        for servers in [stdio(&harness), over_http(port)] {
            for mode in ["legacy", "auto"] {
                let report = sdk(&harness, &servers, mode, &json!([call]));
                assert_eq!(report["asked"], json!([]), "{report}");
                assert_eq!(
                    report["results"][0]["error"]["code"], "needs_approval",
                    "{report}"
                );
            }
        }
        assert!(!harness.workspace().join("ran").exists());
    }
}

/// The agent's own process has the socket, and the token of the listener: it may call, and never answer.
fn a_client_inside_a_task_is_never_asked() {
    let (harness, port) = with_listener(&CONFIG.replace("hold_sec = 60", "hold_sec = 0.2"));
    let calls = json!([{"cmd": "touch ran", "reply": {"action": "accept"}}]);
    for servers in [stdio(&harness), over_http(port)] {
        let config = harness.path("servers.json");
        std::fs::write(&config, servers.to_string()).unwrap();
        for mode in ["legacy", "auto"] {
            let client = clients::python("sdk_elicit.py");
            let script = client.get_args().next().unwrap().display().to_string();
            let program = client.get_program().display().to_string();
            let words = [
                &program,
                &script,
                &config.display().to_string(),
                mode,
                &calls.to_string(),
            ];
            let words = words.map(|word| format!("'{word}'")).join(" ");
            let input = json!({"cmd": format!("exec env PYTHONDONTWRITEBYTECODE=1 {words}"), "wait_seconds": 30});
            let status = harness.mcp(Some("bash")).ok("run", &input);
            assert_eq!(status["exit_code"], 0, "{status}");
            let report: Value = serde_json::from_str(text_of(&status["stdout"]["tail"])).unwrap();
            assert_eq!(report["asked"], json!([]), "{mode}: {report}");
            assert_eq!(
                report["results"][0]["error"]["code"], "needs_approval",
                "{report}"
            );
        }
    }
    assert_eq!(newest(&harness)["state"], "pending");
    assert!(!harness.workspace().join("ran").exists());
    // The same client outside of it is asked.
    stateless::outside_is_asked(&harness, "touch ran");
}

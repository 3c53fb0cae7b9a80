//! Questions and answers.

use harness_tests::{binaries, harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_held_call_goes_through_when_a_person_says_yes,
        a_held_call_is_refused_when_a_person_says_no_and_the_no_is_remembered,
        a_call_that_was_not_held_goes_through_once_after_the_answer,
        a_yes_does_not_cover_another_argument_directory_or_second_run,
        an_unanswered_question_is_rejected_when_its_time_is_over,
        an_always_covers_what_the_card_shows_and_can_be_revoked,
        questions_and_answers_survive_a_crash_of_the_daemon,
        several_questions_are_answered_at_once,
        the_card_shows_control_and_bidi_characters_escaped,
        a_task_can_answer_nothing,
        a_held_call_tells_its_client_that_it_waits,
    ]
}

const ASK: &str = "[tool.run]\nmode = \"ask\"\n[approval]\nhold_sec = 0\n";
const HOLD: &str = "[tool.run]\nmode = \"ask\"\n[approval]\nhold_sec = 60\n";

/// Makes a call that is asked about, and gives the approval's id.
#[track_caller]
fn asked(harness: &Harness, input: &Value) -> String {
    let result = harness.mcp(Some("bash")).call("run", input);
    assert_eq!(
        result["structuredContent"]["error"]["code"], "needs_approval",
        "{result}"
    );
    result["structuredContent"]["error"]["details"]["approval"].to_string()
}

/// Waits for the question of a held call.
fn question(harness: &Harness) -> String {
    loop {
        let pending = harness.get("/v1/approvals");
        if let Some(approval) = pending.as_array().unwrap().first() {
            return approval["id"].to_string();
        }
    }
}

fn a_held_call_goes_through_when_a_person_says_yes() {
    let harness = Harness::with_config(HOLD);
    let mut session = harness.mcp(Some("bash"));
    let call = session.begin(
        "tools/call",
        &json!({"name": "run", "arguments": {"cmd": "echo allowed"}}),
    );
    let id = question(&harness);
    harness.ctl(&["approve", &id]).ok();
    let reply = session.reply(call);
    assert_eq!(
        reply["result"]["structuredContent"]["stdout"]["tail"], "allowed\n",
        "{reply}"
    );
    assert_eq!(harness.get("/v1/approvals"), json!([]));
    assert_eq!(harness.get("/v1/approvals?all=true")[0]["state"], "used");
}

fn a_held_call_is_refused_when_a_person_says_no_and_the_no_is_remembered() {
    let harness = Harness::with_config(HOLD);
    let mut session = harness.mcp(Some("bash"));
    let call = session.begin(
        "tools/call",
        &json!({"name": "run", "arguments": {"cmd": "touch ran"}}),
    );
    let id = question(&harness);
    harness.ctl(&["reject", &id]).ok();
    let result = &session.reply(call)["result"];
    assert_eq!(
        result["structuredContent"]["error"]["code"], "denied",
        "{result}"
    );
    assert_eq!(result["structuredContent"]["error"]["retryable"], false);
    // Asked again, the answer is there at once.
    let result = session.call("run", &json!({"cmd": "touch ran"}));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "denied",
        "{result}"
    );
    assert!(!harness.workspace().join("ran").exists());
}

fn a_call_that_was_not_held_goes_through_once_after_the_answer() {
    let harness = Harness::with_config(ASK);
    let input = json!({"cmd": "echo x >> ran"});
    let id = asked(&harness, &input);
    assert_eq!(asked(&harness, &input), id, "the same call is one question");
    harness.ctl(&["approve", &id]).ok();
    let mut session = harness.mcp(Some("bash"));
    assert_eq!(session.ok("run", &input)["exit_code"], 0);
    assert_ne!(
        asked(&harness, &input),
        id,
        "a second run is a second question"
    );
    assert_eq!(
        std::fs::read_to_string(harness.workspace().join("ran")).unwrap(),
        "x\n"
    );
}

fn a_yes_does_not_cover_another_argument_directory_or_second_run() {
    let harness = Harness::with_config(ASK);
    std::fs::create_dir(harness.workspace().join("sub")).unwrap();
    let id = asked(&harness, &json!({"cmd": "echo a"}));
    harness.ctl(&["approve", &id]).ok();
    for other in [
        json!({"cmd": "echo a "}),
        json!({"cmd": "echo b"}),
        json!({"cmd": "echo a", "cwd": "sub"}),
        json!({"cmd": "echo a", "env": {"X": "1"}}),
        json!({"cmd": "echo a", "timeout_secs": 5}),
    ] {
        assert_ne!(asked(&harness, &other), id, "{other}");
    }
    assert_eq!(
        harness
            .mcp(Some("bash"))
            .ok("run", &json!({"cmd": "echo a"}))["exit_code"],
        0
    );
}

fn an_unanswered_question_is_rejected_when_its_time_is_over() {
    let harness = Harness::with_config(
        "[tool.run]\nmode = \"ask\"\n[approval]\nhold_sec = 60\ntimeout_sec = 0.2\n",
    );
    let result = harness
        .mcp(Some("bash"))
        .call("run", &json!({"cmd": "touch ran"}));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "denied",
        "{result}"
    );
    assert_eq!(harness.get("/v1/approvals?all=true")[0]["state"], "expired");
    assert!(!harness.workspace().join("ran").exists());
}

fn an_always_covers_what_the_card_shows_and_can_be_revoked() {
    let harness = Harness::with_config(ASK);
    let id = asked(&harness, &json!({"cmd": "echo one"}));
    let card = harness.ctl(&["approvals"]).ok();
    assert!(
        card.stdout.contains("scripts of nothing but: echo one"),
        "{card:?}"
    );
    harness.ctl(&["approve", "--always", &id]).ok();
    let mut session = harness.mcp(Some("bash"));
    for cmd in ["echo one", "echo one; echo one", "echo one | echo one"] {
        assert_eq!(
            session.ok("run", &json!({"cmd": cmd}))["exit_code"],
            0,
            "{cmd}"
        );
    }
    for cmd in [
        "echo two",
        "echo one two",
        "echo one; touch ran",
        "echo one $(touch ran)",
    ] {
        asked(&harness, &json!({"cmd": cmd}));
    }
    let standing = harness
        .ctl(&["--json", "approvals", "standing"])
        .ok()
        .json();
    harness
        .ctl(&["approvals", "revoke", &standing[0]["id"].to_string()])
        .ok();
    asked(&harness, &json!({"cmd": "echo one"}));
}

fn questions_and_answers_survive_a_crash_of_the_daemon() {
    let mut harness = Harness::with_config(ASK);
    let open = asked(&harness, &json!({"cmd": "echo open"}));
    let granted = asked(&harness, &json!({"cmd": "echo granted"}));
    harness.ctl(&["approve", &granted]).ok();
    harness.kill_daemon();
    harness.start_daemon();
    assert_eq!(asked(&harness, &json!({"cmd": "echo open"})), open);
    let mut session = harness.mcp(Some("bash"));
    assert_eq!(
        session.ok("run", &json!({"cmd": "echo granted"}))["exit_code"],
        0
    );
    harness.kill_daemon();
    harness.start_daemon();
    assert_ne!(asked(&harness, &json!({"cmd": "echo granted"})), granted);
}

fn several_questions_are_answered_at_once() {
    let harness = Harness::with_config(ASK);
    let ids: Vec<String> = (0..3)
        .map(|n| asked(&harness, &json!({"cmd": format!("echo {n}")})))
        .collect();
    harness.ctl(&["approve", &ids[0], &ids[1], &ids[2]]).ok();
    let again = harness.ctl(&["approve", &ids[0], "9999"]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(
        again.stderr.contains("allowed already") && again.stderr.contains("no approval 9999"),
        "{again:?}"
    );
}

fn the_card_shows_control_and_bidi_characters_escaped() {
    let harness = Harness::with_config(ASK);
    asked(
        &harness,
        &json!({"cmd": "echo \u{202e}live\u{1b}[2K\r # harmless", "timeout_secs": 7}),
    );
    let card = harness.ctl(&["approvals"]).ok();
    assert!(
        !card.stdout.contains(['\u{202e}', '\u{1b}', '\r']),
        "{card:?}"
    );
    for part in [
        "202e",
        "timeout_secs: 7",
        "[tool.run]",
        &harness.workspace().display().to_string(),
    ] {
        assert!(card.stdout.contains(part), "{part}: {card:?}");
    }
}

fn a_task_can_answer_nothing() {
    let harness = Harness::with_config(
        "[tool.run]\nmode = \"allowlist\"\nallowlist = [\"*\"]\n[approval]\nhold_sec = 0\n",
    );
    let id = asked(&harness, &json!({"cmd": "eval \"$x\""}));
    let ctl = binaries::program("harnessctl");
    let cmd = format!(
        "{} --runtime-dir {} approve {id}",
        ctl.display(),
        harness.runtime().display()
    );
    let status = harness
        .mcp(Some("bash"))
        .ok("run", &json!({"cmd": cmd, "wait_seconds": 30}));
    assert_ne!(status["exit_code"], 0, "{status}");
    assert!(
        status["stderr"]["tail"]
            .as_str()
            .unwrap()
            .contains("belongs to the agent"),
        "{status}"
    );
    assert_eq!(harness.get("/v1/approvals")[0]["state"], "pending");
}

fn a_held_call_tells_its_client_that_it_waits() {
    let harness = Harness::with_config(HOLD);
    let mut session = harness.mcp(Some("bash"));
    let parameters =
        json!({"name": "run", "arguments": {"cmd": "echo x"}, "_meta": {"progressToken": 1}});
    let call = session.begin("tools/call", &parameters);
    let told = session.notification("notifications/progress");
    assert!(
        told["params"]["message"]
            .as_str()
            .unwrap()
            .contains("waiting for a person"),
        "{told}"
    );
    harness.ctl(&["approve", &question(&harness)]).ok();
    assert!(text(&session.reply(call)["result"]).contains("exit code 0"));
}

//! Approvals asked in clients of the stateless protocol: what the state of a question is good for.

use harness_tests::{harness::Harness, mcp::Session, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::elicitation::{CONFIG, forms, newest};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        the_answer_of_the_client_comes_with_the_same_call_and_counts_as_no_repetition,
        a_state_is_good_for_one_answer_to_its_own_call_in_its_own_session,
        a_state_that_was_changed_is_refused_and_the_question_stays,
        whoever_answers_first_wins_though_the_form_is_still_open,
        a_question_that_is_over_is_asked_anew,
    ]
}

/// A connection of the stateless protocol.
struct Client(Session);

impl Client {
    fn new(harness: &Harness) -> Self {
        let mut session = Session::connect(&harness.runtime().join("mcp.sock"));
        session.send(&json!({"harness": {"group": "shell"}}));
        Self(session)
    }

    fn call(&mut self, cmd: &str, more: &Value) -> Value {
        let mut parameters = json!({"name": "shell", "arguments": {"cmd": cmd}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": forms(),
        }});
        for (key, value) in more.as_object().unwrap() {
            parameters[key] = value.clone();
        }
        self.0.request("tools/call", &parameters)
    }

    /// Makes a call and gives the state of its question.
    fn asked(&mut self, cmd: &str) -> Value {
        let reply = self.call(cmd, &json!({}));
        let result = &reply["result"];
        assert_eq!(result["resultType"], "input_required", "{reply}");
        let form = &result["inputRequests"]["approval"];
        assert_eq!(form["method"], "elicitation/create", "{reply}");
        assert!(
            form["params"]["message"].as_str().unwrap().contains(cmd),
            "{reply}"
        );
        result["requestState"].clone()
    }

    fn bring(&mut self, cmd: &str, state: &Value, reply: &Value) -> Value {
        let more = json!({"requestState": state, "inputResponses": {"approval": reply}});
        self.call(cmd, &more)
    }
}

fn accept() -> Value {
    json!({"action": "accept", "content": {"answer": "allow"}})
}

/// Makes the call of a client that may answer, which says yes.
pub(super) fn outside_is_asked(harness: &Harness, cmd: &str) {
    let mut client = Client::new(harness);
    let state = client.asked(cmd);
    let reply = client.bring(cmd, &state, &accept());
    assert_eq!(
        reply["result"]["structuredContent"]["exitCode"], 0,
        "{reply}"
    );
}

#[track_caller]
fn refused(reply: &Value) {
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("make the call again without requestState"),
        "{message}"
    );
}

fn the_answer_of_the_client_comes_with_the_same_call_and_counts_as_no_repetition() {
    let harness = Harness::with_config(CONFIG);
    // `identical_calls` is 1: two requests of one call are one.
    outside_is_asked(&harness, "echo one");
    outside_is_asked(&harness, "echo two");
    let calls = harness.get("/v1/calls?tool=shell")["items"].clone();
    let states: Vec<&Value> = calls
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["state"])
        .collect();
    assert_eq!(states, ["ok", "refused", "ok", "refused"], "{calls}");
    assert_eq!(calls[1]["code"], "needs_approval", "{calls}");
    let reply =
        Client::new(&harness).call("echo x", &json!({"inputResponses": {"approval": accept()}}));
    refused(&reply);
}

fn a_state_is_good_for_one_answer_to_its_own_call_in_its_own_session() {
    let harness = Harness::with_config(CONFIG);
    let mut client = Client::new(&harness);
    let state = client.asked("touch one");
    refused(&client.bring("touch two", &state, &accept()));
    refused(&Client::new(&harness).bring("touch one", &state, &accept()));
    let malformed = client.bring("touch one", &state, &json!({"action": "perhaps"}));
    assert_eq!(malformed["error"]["code"], -32602, "{malformed}");
    assert_eq!(newest(&harness)["state"], "pending");
    let done = client.bring("touch one", &state, &accept());
    assert_eq!(done["result"]["structuredContent"]["exitCode"], 0, "{done}");
    std::fs::remove_file(harness.workspace().join("one")).unwrap();
    refused(&client.bring("touch one", &state, &accept()));
    // The state of a dismissed form is used up as well.
    harness.write_config(&CONFIG.replace("60", "0.1"));
    harness.ctl(&["reload"]).ok();
    let state = client.asked("touch two");
    let held = client.bring("touch two", &state, &json!({"action": "cancel"}));
    let code = &held["result"]["structuredContent"]["error"]["code"];
    assert_eq!(code, "needs_approval", "{held}");
    refused(&client.bring("touch two", &state, &accept()));
    assert_eq!(newest(&harness)["state"], "pending");
    for absent in ["one", "two"] {
        assert!(!harness.workspace().join(absent).exists(), "{absent}");
    }
}

fn a_state_that_was_changed_is_refused_and_the_question_stays() {
    let mut harness = Harness::with_config(CONFIG);
    let mut client = Client::new(&harness);
    let state = client.asked("touch ran");
    let text = state.as_str().unwrap();
    for wrong in [&text[1..], &text.replace('.', ""), "", &format!("{text}A")] {
        refused(&client.bring("touch ran", &json!(wrong), &accept()));
    }
    // Another daemon has another key.
    harness.kill_daemon();
    harness.start_daemon();
    let mut client = Client::new(&harness);
    refused(&client.bring("touch ran", &state, &accept()));
    assert_eq!(newest(&harness)["state"], "pending");
    assert!(!harness.workspace().join("ran").exists());
}

fn whoever_answers_first_wins_though_the_form_is_still_open() {
    let harness = Harness::with_config(CONFIG);
    let mut client = Client::new(&harness);
    let state = client.asked("touch rejected");
    harness
        .ctl(&["reject", &newest(&harness)["id"].to_string()])
        .ok();
    let denied = client.bring("touch rejected", &state, &accept());
    assert_eq!(
        denied["result"]["structuredContent"]["error"]["code"], "denied",
        "{denied}"
    );
    assert!(!harness.workspace().join("rejected").exists());
    let state = client.asked("echo allowed");
    harness
        .ctl(&["approve", &newest(&harness)["id"].to_string()])
        .ok();
    let done = client.bring("echo allowed", &state, &json!({"action": "decline"}));
    assert_eq!(
        done["result"]["structuredContent"]["stdout"], "allowed\n",
        "{done}"
    );
    let by = newest(&harness)["answered_by"].clone();
    assert!(by.as_str().unwrap().starts_with("uid "), "{by}");
}

/// The answer to one question is none to the next, though the call is the same.
fn a_question_that_is_over_is_asked_anew() {
    let harness = Harness::with_config(CONFIG);
    let mut client = Client::new(&harness);
    let state = client.asked("touch ran");
    let first = newest(&harness)["id"].clone();
    harness.ctl(&["approve", &first.to_string()]).ok();
    // Somebody else makes the same call, and uses the yes.
    let mut other = Client::new(&harness);
    let done = other.call("touch ran", &json!({}));
    assert_eq!(done["result"]["structuredContent"]["exitCode"], 0, "{done}");
    std::fs::remove_file(harness.workspace().join("ran")).unwrap();
    let again = client.bring("touch ran", &state, &accept());
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    assert_ne!(newest(&harness)["id"], first);
    assert_eq!(newest(&harness)["state"], "pending");
    assert!(!harness.workspace().join("ran").exists());
}

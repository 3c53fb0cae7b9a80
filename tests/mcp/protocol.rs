//! What is on the wire of `mcp.sock`.

use harness_tests::{event, harness::Harness, harness::PATIENCE, mcp::Session, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::wakes::until_no_wake_is_due;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_session_of_an_older_protocol_is_served_in_its_version,
        the_stateless_protocol_is_served_without_a_session,
        a_client_that_declares_tasks_gets_one_and_its_result_later,
        a_task_that_ends_within_its_call_is_answered_as_a_call,
        cancelling_a_task_is_acknowledged_before_its_end_and_is_a_recorded_call,
        a_session_is_given_no_task_whatever_its_client_declares,
        a_group_that_is_not_there_is_named_with_those_that_are,
        garbage_on_the_line_gets_an_error_and_the_session_goes_on,
        a_cancelled_wait_is_answered_no_more_and_the_task_goes_on,
        progress_names_the_task_before_its_end,
    ]
}

fn a_session_of_an_older_protocol_is_served_in_its_version() {
    let harness = Harness::start();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = Session::connect(&harness.runtime().join("mcp.sock"));
        let client = json!({"name": "t", "version": "0"});
        let parameters =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let reply = session.request("initialize", &parameters);
        assert_eq!(reply["result"]["protocolVersion"], version, "{reply}");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(session.request("ping", &json!({}))["result"], json!({}));
    }
}

/// What every request of the stateless protocol says of its client.
fn stateless(mut parameters: Value, capabilities: &Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    parameters
}

fn the_stateless_protocol_is_served_without_a_session() {
    let harness = Harness::start();
    let mut session = Session::connect(&harness.runtime().join("mcp.sock"));
    session.send(&json!({"harness": {"group": "bash"}}));
    let call = json!({"name": "run", "arguments": {"cmd": "echo stateless"}});
    let reply = session.request("tools/call", &stateless(call, &json!({})));
    assert_eq!(
        reply["result"]["structuredContent"]["stdout"]["tail"], "stateless\n",
        "{reply}"
    );
}

/// The tasks extension of a client (SEP-2663).
fn extension() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// A connection to the group `bash` that says nothing first.
pub(crate) fn bash(harness: &Harness) -> Session {
    let mut session = Session::connect(&harness.runtime().join("mcp.sock"));
    session.send(&json!({"harness": {"group": "bash"}}));
    session
}

/// A request that declares the tasks extension; gives its result.
pub(crate) fn declaring(session: &mut Session, method: &str, parameters: Value) -> Value {
    let reply = session.request(method, &stateless(parameters, &extension()));
    let result = reply.get("result").cloned();
    result.unwrap_or_else(|| panic!("{method}: {reply}"))
}

/// Runs a command that waits for a line in the FIFO `gate`; gives the id of its task.
pub(crate) fn gated(harness: &Harness, session: &mut Session, arguments: &Value) -> Value {
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let call = json!({"name": "run", "arguments": arguments});
    let started = declaring(session, "tools/call", call);
    assert_eq!(started["resultType"], "task", "{started}");
    assert_eq!(started["status"], "working", "{started}");
    started["taskId"].clone()
}

pub(crate) fn open_gate(harness: &Harness) {
    std::fs::write(harness.workspace().join("gate"), "it\n").unwrap();
}

fn a_client_that_declares_tasks_gets_one_and_its_result_later() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let mut session = bash(&harness);
    let arguments = json!({"cmd": "read x < gate; echo got $x", "wait_seconds": 0});
    let id = gated(&harness, &mut session, &arguments);
    let task = declaring(&mut session, "tasks/get", json!({"taskId": id}));
    assert_eq!(task["status"], "working", "{task}");
    open_gate(&harness);
    // Nobody waits for this task, so its end is woken for.
    let mut wakes = harness.mcp(Some("wakes"));
    let woken = wakes.ok("wakes_recv", &json!({"wait_seconds": 60}));
    assert_eq!(woken["wakes"][0]["unit"], id, "{woken}");
    let task = declaring(&mut session, "tasks/get", json!({"taskId": id}));
    assert_eq!(task["status"], "completed", "{task}");
    let status = &task["result"]["structuredContent"];
    assert_eq!(status["stdout"]["tail"], "got it\n", "{task}");
    // Whoever has the result needs no wake.
    until_no_wake_is_due(&harness);
}

fn a_task_that_ends_within_its_call_is_answered_as_a_call() {
    let harness = Harness::start();
    let call = json!({"name": "run", "arguments": {"cmd": "echo short", "wait_seconds": 30}});
    let result = declaring(&mut bash(&harness), "tools/call", call);
    assert_eq!(result["resultType"], "complete", "{result}");
    let status = &result["structuredContent"];
    assert_eq!(status["stdout"]["tail"], "short\n", "{result}");
    until_no_wake_is_due(&harness);
}

fn cancelling_a_task_is_acknowledged_before_its_end_and_is_a_recorded_call() {
    let harness = Harness::start();
    let mut session = bash(&harness);
    let arguments = json!({
        "cmd": "trap '' TERM; echo > ready; read x < gate",
        "wait_seconds": 0,
        "unit": {"timeout_stop_sec": "20s"},
    });
    let id = gated(&harness, &mut session, &arguments);
    let ready = harness.workspace().join("ready");
    event::file(&ready, PATIENCE, |text| text == "\n");
    let cancelled = declaring(&mut session, "tasks/cancel", json!({"taskId": id}));
    assert_eq!(cancelled["resultType"], "complete", "{cancelled}");
    let task = declaring(&mut session, "tasks/get", json!({"taskId": id}));
    assert_eq!(task["status"], "working", "{task}");
    open_gate(&harness);
    let ended = harness.get(&format!("/v1/tasks/{}?wait=30", id.as_str().unwrap()));
    assert_eq!(ended["status"], "stopped", "{ended}");
    let task = declaring(&mut session, "tasks/get", json!({"taskId": id}));
    assert_eq!(task["status"], "cancelled", "{task}");
    let calls = harness.get("/v1/calls?tool=stop");
    assert_eq!(calls["items"][0]["input"], json!({"id": id}), "{calls}");
}

fn a_session_is_given_no_task_whatever_its_client_declares() {
    let harness = Harness::start();
    let mut session = bash(&harness);
    let client = json!({"name": "t", "version": "0"});
    let parameters =
        json!({"protocolVersion": "2025-11-25", "capabilities": extension(), "clientInfo": client});
    let offered = session.request("initialize", &parameters)["result"].clone();
    assert!(
        offered["capabilities"].get("extensions").is_none(),
        "{offered}"
    );
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let status = session.ok("run", &json!({"cmd": "echo a call"}));
    assert_eq!(status["stdout"]["tail"], "a call\n", "{status}");
    let started = session.call("run", &json!({"cmd": "sleep 1000", "wait_seconds": 0}));
    let said = format!(
        "task started: id={}",
        started["structuredContent"]["id"].as_str().unwrap()
    );
    assert_eq!(started["content"][0]["text"], said, "{started}");
}

fn a_group_that_is_not_there_is_named_with_those_that_are() {
    let harness = Harness::start();
    let mut session = Session::connect(&harness.runtime().join("mcp.sock"));
    session.send(&json!({"harness": {"group": "bsh"}}));
    let client = json!({"name": "t", "version": "0"});
    let parameters =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let reply = session.request("initialize", &parameters);
    assert!(
        reply["error"]["message"].as_str().unwrap().contains("bash"),
        "{reply}"
    );
}

fn garbage_on_the_line_gets_an_error_and_the_session_goes_on() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    for garbage in [
        &b"garbage\n"[..],
        b"{\"jsonrpc\":\n",
        b"\xff\xfe\n",
        b"[]\n",
        b"\0\n",
    ] {
        session.send_raw(garbage);
        let reply = session.receive().unwrap();
        assert!(reply["error"]["code"].is_i64(), "{garbage:?}: {reply}");
    }
    assert_eq!(
        session.ok("run", &json!({"cmd": "echo still here"}))["stdout"]["tail"],
        "still here\n"
    );
}

fn a_cancelled_wait_is_answered_no_more_and_the_task_goes_on() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let (mut session, mut wakes) = (harness.mcp(Some("bash")), harness.mcp(Some("wakes")));
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let input = json!({"cmd": "echo ready > ready; read x < gate", "wait_seconds": 30});
    let call = session.begin("tools/call", &json!({"name": "run", "arguments": input}));
    event::file(&harness.workspace().join("ready"), PATIENCE, |text| {
        text == "ready\n"
    });
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    session.request("ping", &json!({}));
    assert_eq!(
        session.ok("list", &json!({}))["tasks"][0]["status"],
        "running"
    );
    std::fs::write(&gate, "go\n").unwrap();
    let received = wakes.ok("wakes_recv", &json!({"wait_seconds": 60}))["wakes"].clone();
    assert_eq!(received.as_array().unwrap().len(), 1, "{received}");
    let calls = harness.get("/v1/calls?tool=run");
    assert_eq!(calls["items"][0]["state"], "cancelled", "{calls}");
}

fn progress_names_the_task_before_its_end() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let input = json!({"cmd": "sleep 0.2", "wait_seconds": 30});
    let parameters = json!({"name": "run", "arguments": input, "_meta": {"progressToken": "p1"}});
    let call = session.begin("tools/call", &parameters);
    let told = session.notification("notifications/progress");
    assert_eq!(told["params"]["progressToken"], "p1", "{told}");
    let message = told["params"]["message"].as_str().unwrap().to_owned();
    let result = session.reply(call);
    let id = result["result"]["structuredContent"]["id"]
        .as_str()
        .unwrap();
    assert!(message.contains(id), "{message}");
}

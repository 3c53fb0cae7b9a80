//! What is shown of tasks, wakes, calls, units and events.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::{
    program::call,
    support::{FakeHarness, events, refuse, reply, status, task},
};

#[test]
fn the_status_says_what_is_not_enforced() {
    let harness = FakeHarness::start(|_, stream| reply(stream, 200, &status()));
    let ended = call(&harness, &["status"]);
    let text = ended.stdout.split_once('\n').unwrap();
    assert!(text.0.starts_with("coder: running for "), "{}", text.0);
    insta::assert_snapshot!("status", text.1);
    assert_eq!(call(&harness, &["status", "--json"]).json(), status());
}

#[test]
fn a_list_survives_names_and_commands_that_attack_the_terminal() {
    let harness = FakeHarness::start(|_, stream| {
        let mut evil = task("abc", "done", Some(1));
        evil["active_state"] = json!("failed");
        evil["name"] = json!("a\nb");
        evil["cmd"] = json!("echo \u{1b}[2J \u{202e}gnp.exe");
        evil["started_at"] = Value::Null;
        reply(stream, 200, &json!({"items": [evil], "next": null}));
    });
    let ended = call(&harness, &["list"]);
    insta::assert_snapshot!("list", ended.stdout);
}

#[test]
fn a_list_asks_for_more_pages_when_a_filter_left_one_short() {
    let harness = FakeHarness::start(|request, stream| {
        let page = if request.line.contains("before=7") {
            json!({"items": [task("bbb", "running", None)], "next": null})
        } else {
            json!({"items": [], "next": 7})
        };
        reply(stream, 200, &page);
    });
    let ended = call(&harness, &["list", "--json", "--state", "running"]);
    assert_eq!(ended.json()["items"][0]["id"], "bbb");
    assert_eq!(
        harness.lines()[1],
        "GET /v1/tasks?before=7&limit=50&state=running"
    );
}

#[test]
fn output_goes_on_to_its_end_and_into_a_pipe_as_it_is() {
    let harness = FakeHarness::start(|request, stream| {
        let (offset, text) = if request.line.contains("offset=0") {
            (0, "one\u{1b}[1m")
        } else {
            (7, "two")
        };
        let next = offset + text.len();
        reply(
            stream,
            200,
            &json!({"id": "abc", "stream": "stderr", "offset": offset, "next_offset": next, "bytes": 10, "text": text, "eof": false}),
        );
    });
    let ended = call(&harness, &["output", "--stderr", "abc"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "one\u{1b}[1mtwo"));
    assert_eq!(
        harness.lines()[1],
        "GET /v1/tasks/abc/output?offset=7&stream=stderr"
    );
}

fn wake(id: i64) -> Value {
    json!({
        "id": id, "from": "bash-task-abc", "unit": "abc", "status": "done", "exit_code": 0,
        "body": "last\u{7} line\n", "created_at": "2026-01-02T03:04:05.000Z", "deliveries": 1,
    })
}

#[test]
fn wakes_are_shown_and_acknowledged_as_shown() {
    let harness = FakeHarness::start(|request, stream| match request.line.as_str() {
        "POST /v1/wakes/ack" => reply(stream, 200, &json!({"acknowledged": request.json()["ids"]})),
        _ => reply(stream, 200, &json!([wake(1), wake(2)])),
    });
    let ended = call(&harness, &["wakes"]);
    assert!(
        ended.stdout.contains("    last\\u{7} line\n"),
        "{}",
        ended.stdout
    );
    assert_eq!(harness.lines().len(), 1, "nothing is acknowledged unasked");
    let ended = call(&harness, &["wakes", "--ack", "--json"]);
    assert_eq!(ended.json()["acknowledged"], json!([1, 2]));
    let ended = call(&harness, &["wakes", "9"]);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (1, "harnessctl: wake 9 is not due\n")
    );
}

#[test]
fn a_wait_for_wakes_asks_again_until_one_comes_and_can_acknowledge_it() {
    let asked = AtomicU32::new(0);
    let harness = FakeHarness::start(move |request, stream| match request.line.as_str() {
        "POST /v1/wakes/ack" => reply(stream, 200, &json!({"acknowledged": request.json()["ids"]})),
        "POST /v1/wakes/recv" if asked.fetch_add(1, Ordering::Relaxed) < 2 => {
            reply(stream, 200, &json!([]));
        }
        _ => reply(stream, 200, &json!([wake(4)])),
    });
    let ended = call(&harness, &["wakes", "--wait", "--ack", "--json"]);
    assert_eq!(ended.json()["acknowledged"], json!([4]));
    let lines = harness.lines();
    assert_eq!(lines[..3], ["POST /v1/wakes/recv"; 3]);
    assert_eq!(lines[3..], ["POST /v1/wakes/ack"]);
}

#[test]
fn a_wait_in_which_no_wake_comes_is_exit_code_75_and_shows_nothing() {
    let harness = FakeHarness::start(|_, stream| reply(stream, 200, &json!([])));
    let ended = call(&harness, &["wakes", "--wait=0", "--ack"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (75, ""));
    assert_eq!(harness.lines(), ["POST /v1/wakes/recv"], "{ended:?}");
    assert_eq!(call(&harness, &["wakes", "--wait", "3"]).code, 2);
}

#[test]
fn events_are_one_line_each_and_begin_after_the_one_named() {
    let harness = FakeHarness::start(|request, stream| match request.header("last-event-id") {
        Some("boot-7") => {
            let wake = wake(3);
            let mut event = json!({"seq": 8, "at": "2026-01-02T03:04:05.000Z", "event": "wake"});
            event
                .as_object_mut()
                .unwrap()
                .extend(wake.as_object().unwrap().clone());
            events(
                stream,
                &format!("id: boot-8\nevent: wake\ndata: {event}\n\n"),
            );
        }
        _ => refuse(stream, 403, "denied", "enough"),
    });
    let ended = call(&harness, &["events", "--since", "boot-7"]);
    assert_eq!(
        ended.stdout,
        "2026-01-02T03:04:05.000Z wake          3 bash-task-abc: done\n"
    );
    let ended = call(&harness, &["events", "--since", "boot-7", "--json"]);
    assert_eq!(ended.json()["id"], "boot-8");
}

#[test]
fn units_and_calls_are_filtered_by_the_harness() {
    let harness =
        FakeHarness::start(|_, stream| reply(stream, 200, &json!({"items": [], "next": null})));
    assert_eq!(
        call(
            &harness,
            &["units", "--kind", "mcp-server", "--state", "failed"]
        )
        .code,
        0
    );
    assert_eq!(
        call(
            &harness,
            &[
                "calls", "--tool", "run", "--state", "refused", "--limit", "5"
            ]
        )
        .code,
        0
    );
    assert_eq!(
        harness.lines(),
        [
            "GET /v1/units?kind=mcp-server&limit=50&state=failed",
            "GET /v1/calls?limit=5&state=refused&tool=run"
        ]
    );
}

//! Starting tasks and waiting for them.

use serde_json::{Value, json};

use crate::{
    program::call,
    support::{FakeHarness, events, output_frame, reply, task},
};

fn harness_with(end: Value) -> FakeHarness {
    FakeHarness::start(move |request, stream| {
        let line = request.line.as_str();
        if line.contains("stream=stdout") {
            events(
                stream,
                &(output_frame("abc", 0, "out\n", false) + &output_frame("abc", 4, "", true)),
            );
        } else if line.contains("stream=stderr") {
            events(stream, &output_frame("abc", 0, "err\n", true));
        } else if line.starts_with("POST") {
            reply(stream, 201, &task("abc", "running", None));
        } else {
            reply(stream, 200, &end);
        }
    })
}

#[test]
fn a_task_is_started_with_every_option_and_its_id_printed() {
    let harness = harness_with(json!(null));
    let arguments = [
        "run",
        "--name",
        "build",
        "--cwd",
        "/srv",
        "--env",
        "A=b=c",
        "--env",
        "XDG_RUNTIME_DIR",
        "--timeout",
        "1min 30s",
        "--unit",
        "restart=on-failure",
        "--unit",
        "restart_sec=5",
        "--",
        "cp",
        "a b",
        "c",
    ];
    let ended = call(&harness, &arguments);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (0, "abc\n"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        harness.requests()[0].json(),
        json!({
            "cmd": "cp 'a b' c", "name": "build", "cwd": "/srv", "timeout_secs": 90, "wait_seconds": 0,
            "env": {"A": "b=c", "XDG_RUNTIME_DIR": "/nonexistent"},
            "unit": {"restart": "on-failure", "restart_sec": 5},
        })
    );
}

#[test]
fn a_waiting_run_ends_as_its_task_did() {
    let mut killed = task("abc", "stopped", None);
    killed["signal"] = json!("SIGKILL");
    for (end, code) in [
        (task("abc", "done", Some(0)), 0),
        (task("abc", "done", Some(7)), 7),
        (killed, 137),
        (task("abc", "timed_out", None), 124),
        (task("abc", "interrupted", None), 125),
    ] {
        let harness = harness_with(end);
        for arguments in [
            &["run", "--wait", "--", "x"][..],
            &["run", "--follow", "--", "x"],
            &["wait", "abc"],
        ] {
            let ended = call(&harness, arguments);
            assert_eq!(ended.code, code, "{arguments:?} {}", ended.stderr);
        }
    }
}

#[test]
fn a_waiting_run_asks_for_the_end_with_the_start_and_then_for_the_rest_of_its_time() {
    let harness = harness_with(task("abc", "running", None));
    assert_eq!(call(&harness, &["run", "--wait=1", "--", "x"]).code, 75);
    assert_eq!(harness.requests()[0].json()["wait_seconds"], 1.0);
    assert_eq!(harness.lines()[1..], ["GET /v1/tasks/abc?wait=0"]);

    let harness = harness_with(task("abc", "running", None));
    assert_eq!(call(&harness, &["run", "--wait=500ms", "--", "x"]).code, 75);
    assert_eq!(harness.requests()[0].json()["wait_seconds"], 0.5);
}

#[test]
fn a_wait_that_is_over_before_the_task_is_exit_code_75() {
    let harness = harness_with(task("abc", "running", None));
    let ended = call(&harness, &["run", "--wait=0", "--", "x"]);
    assert_eq!(ended.code, 75, "{}", ended.stderr);
    assert_eq!(call(&harness, &["wait", "--timeout", "0", "abc"]).code, 75);
}

#[test]
fn both_streams_of_a_followed_run_come_out_where_they_belong() {
    let harness = harness_with(task("abc", "done", Some(3)));
    let ended = call(&harness, &["run", "--follow", "--", "x"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (3, "out\n", "err\n")
    );
}

#[test]
fn a_followed_run_in_json_is_pieces_and_then_the_status() {
    let harness = harness_with(task("abc", "done", Some(3)));
    let ended = call(&harness, &["run", "--json", "--follow", "--", "x"]);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3]["exit_code"], 3);
}

#[test]
fn waiting_for_several_ends_as_the_first_that_failed() {
    let harness = FakeHarness::start(|request, stream| {
        let (id, code) = if request.line.contains("/aaa") {
            ("aaa", 0)
        } else if request.line.contains("/bbb") {
            ("bbb", 4)
        } else {
            ("ccc", 5)
        };
        reply(stream, 200, &task(id, "done", Some(code)));
    });
    let ended = call(&harness, &["wait", "aaa", "bbb", "ccc"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (4, 3));
}

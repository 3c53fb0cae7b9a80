//! What goes wrong, and with which exit code.

use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use crate::{
    program::{Ended, call, program},
    support::{FakeHarness, events, output_frame, refuse, reply, task},
};

#[test]
fn no_harness_is_exit_code_3_and_says_how_to_start_one() {
    let ended = Ended::of(
        program(&["list", "--agent", "nobody-runs-this"])
            .output()
            .unwrap(),
    );
    assert_eq!((ended.code, ended.stdout.as_str()), (3, ""));
    assert!(
        ended
            .stderr
            .contains("/nonexistent/harnessd/nobody-runs-this/control.sock"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("systemctl start harnessd@"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_stale_socket_is_told_apart_and_named() {
    let directory = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(directory.path().join("control.sock")).unwrap());
    let place = directory.path().to_str().unwrap();
    let ended = Ended::of(
        program(&["--runtime-dir", place, "status"])
            .output()
            .unwrap(),
    );
    assert_eq!(ended.code, 3);
    assert!(
        ended.stderr.contains("nobody listens at"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_refusal_is_exit_code_1_and_one_json_line_when_asked() {
    let harness =
        FakeHarness::start(|_, stream| refuse(stream, 404, "unknown_command", "no task \u{202e}x"));
    let ended = call(&harness, &["status", "abc"]);
    assert_eq!(ended.code, 1);
    assert_eq!(
        ended.stderr,
        "harnessctl: no task \\u{202e}x (unknown_command)\n"
    );
    let ended = call(&harness, &["--json", "status", "abc"]);
    let error: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(error["error"]["code"], "unknown_command");
}

#[test]
fn a_wrong_command_line_is_exit_code_2_and_asks_nothing() {
    let harness = FakeHarness::start(|_, stream| reply(stream, 500, &json!({})));
    for arguments in [
        &["nonsense"][..],
        &["run"],
        &["run", "--unit", "restrat=no", "--", "true"],
        &["run", "--unit", "restart_steps=3", "--", "true"],
        &["run", "--env", "NO_SUCH_VARIABLE_HERE", "--", "true"],
        &["run", "--timeout", "soon", "--", "true"],
        &["status", "../x"],
        &["signal", "abc", "SIGNOPE"],
        &["list", "--state", "nowhere"],
        &["mcp-config"],
    ] {
        let ended = call(&harness, arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stderr.is_empty());
    }
    let ended = Ended::of(program(&["--agent", "../x", "list"]).output().unwrap());
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(harness.requests().is_empty());
}

#[test]
fn a_failure_with_one_task_does_not_spare_the_others() {
    let harness = FakeHarness::start(|request, stream| match request.line.as_str() {
        "POST /v1/tasks/bad/stop" => refuse(stream, 404, "unknown_command", "no task bad"),
        _ => reply(stream, 200, &task("abc", "stopped", None)),
    });
    let ended = call(&harness, &["stop", "bad", "abc"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.starts_with("abc: stopped"), "{}", ended.stdout);
    let mut lines = harness.lines();
    lines.sort();
    assert_eq!(
        lines,
        ["POST /v1/tasks/abc/stop", "POST /v1/tasks/bad/stop"]
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let harness = FakeHarness::start(|_, stream| {
        let text = "x".repeat(1 << 20);
        let frames: String = (0..8)
            .map(|place| output_frame("abc", place << 20, &text, place == 7))
            .collect();
        events(stream, &frames);
    });
    let mut command = program(&["output", "--follow", "abc"]);
    let mut child = command
        .env("HARNESS_RUNTIME_DIR", harness.directory.path())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

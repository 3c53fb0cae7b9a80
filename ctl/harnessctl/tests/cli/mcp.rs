//! The stdio bridge.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    process::{Child, Stdio},
    thread,
};

use serde_json::{Value, json};

use crate::program::program;

/// A bridge and the harness's end of its connection.
struct Bridge {
    child: Child,
    harness: UnixStream,
    _directory: tempfile::TempDir,
}

impl Bridge {
    fn start(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("mcp.sock")).unwrap();
        let mut command = program(&[&["mcp"], arguments].concat());
        command
            .env("HARNESS_RUNTIME_DIR", directory.path())
            .stdin(Stdio::piped());
        let child = command.spawn().unwrap();
        let (harness, _) = listener.accept().unwrap();
        Self {
            child,
            harness,
            _directory: directory,
        }
    }

    fn end(self) -> (i32, String) {
        let output = self.child.wait_with_output().unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

fn line(source: &mut impl Read) -> String {
    let mut text = String::new();
    BufReader::new(source).read_line(&mut text).unwrap();
    text
}

#[test]
fn a_narrowed_connection_says_so_on_its_first_line() {
    for (option, key) in [("--group", "group"), ("--server", "server")] {
        let mut bridge = Bridge::start(&[option, "a \"b\""]);
        let first: Value = serde_json::from_str(&line(&mut bridge.harness)).unwrap();
        assert_eq!(first, json!({"harness": {key: "a \"b\""}}));
        drop(bridge.child.stdin.take());
        drop(bridge.harness);
        bridge.child.wait().unwrap();
    }
}

#[test]
fn megabytes_go_both_ways_at_once_unchanged() {
    let mut bridge = Bridge::start(&[]);
    let sent: Vec<u8> = (0..8_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let harness = bridge.harness.try_clone().unwrap();
    let echo = thread::spawn(move || {
        let mut source = harness.try_clone().unwrap();
        std::io::copy(&mut source, &mut &harness).unwrap();
        harness.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut input = bridge.child.stdin.take().unwrap();
    let bytes = sent.clone();
    let writer = thread::spawn(move || input.write_all(&bytes).unwrap());
    let mut received = Vec::new();
    bridge
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut received)
        .unwrap();
    writer.join().unwrap();
    echo.join().unwrap();
    assert!(
        received == sent,
        "{} of {} bytes",
        received.len(),
        sent.len()
    );
    assert_eq!(bridge.end().0, 0);
}

#[test]
fn what_the_harness_still_says_after_the_clients_end_of_input_is_delivered() {
    let mut bridge = Bridge::start(&[]);
    drop(bridge.child.stdin.take());
    let mut rest = Vec::new();
    bridge.harness.read_to_end(&mut rest).unwrap();
    bridge.harness.write_all(b"late answer\n").unwrap();
    bridge.harness.shutdown(std::net::Shutdown::Both).unwrap();
    let mut text = String::new();
    bridge
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "late answer\n");
    assert_eq!(bridge.end(), (0, String::new()));
}

#[test]
fn the_harnesss_end_is_the_end_and_is_said() {
    let mut bridge = Bridge::start(&[]);
    let input = bridge.child.stdin.take();
    bridge.harness.shutdown(std::net::Shutdown::Both).unwrap();
    let (code, stderr) = bridge.end();
    assert_eq!(
        (code, stderr.as_str()),
        (3, "harnessctl: the harness closed the connection\n")
    );
    drop(input);
}

#[test]
fn a_client_that_vanished_ends_the_bridge_though_the_harness_says_nothing() {
    let mut bridge = Bridge::start(&[]);
    drop(bridge.child.stdin.take());
    drop(bridge.child.stdout.take());
    let code = bridge.child.wait().unwrap().code();
    assert_eq!(code, Some(0));
}

#[test]
fn without_a_harness_the_first_request_is_answered_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = program(&["mcp"]);
    let mut child = command
        .env("HARNESS_RUNTIME_DIR", directory.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(b"not json\n{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n")
        .unwrap();
    input
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"a7\",\"method\":\"initialize\"}\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &reply["id"]),
        (Some(3), &json!("a7"))
    );
    assert!(
        reply["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no harness is running"),
        "{reply}"
    );
}

//! Output while it is written, and `harnessctl shell`.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use harness_tests::{binaries, command, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::start;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        output_is_told_while_the_command_runs_and_never_stored,
        what_was_told_is_whole_characters_that_follow_each_other,
        a_person_runs_a_command_with_its_streams_and_its_exit_code,
        a_person_sees_output_before_the_end,
        a_flood_reaches_a_person_whole_or_is_said_to_be_in_a_file,
        a_person_whose_command_takes_too_long_gets_124_and_what_it_wrote,
        a_directory_may_be_given_by_its_absolute_path,
    ]
}

/// A pipe that a command can be held at.
fn gate(harness: &Harness) -> std::path::PathBuf {
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    gate
}

fn output_is_told_while_the_command_runs_and_never_stored() {
    let harness = start();
    let gate = gate(&harness);
    let mut events = harness.events();
    let mut session = harness.mcp(Some("shell"));
    let input = json!({"cmd": "echo live; echo oops >&2; read x < gate; echo late"});
    let call = session.begin("tools/call", &json!({"name": "shell", "arguments": input}));
    let begun = events.next("tool_call");
    for _ in 0..2 {
        let output = events.next("shell_output");
        assert_eq!(output["call"], begun["call"], "{output}");
        assert_eq!(output["offset"], 0);
        let expected = if output["stream"] == "stdout" {
            "live\n"
        } else {
            "oops\n"
        };
        assert_eq!(output["delta"], expected, "{output}");
    }
    std::fs::write(&gate, "go\n").unwrap();
    let last = events.next("shell_output");
    assert_eq!(
        (&last["delta"], &last["offset"]),
        (&json!("late\n"), &json!(5)),
        "{last}"
    );
    assert_eq!(events.next("tool_result")["call"], begun["call"]);
    assert_eq!(
        session.reply(call)["result"]["structuredContent"]["stdout"],
        "live\nlate\n"
    );
    // A reader who comes back for the past finds everything but the output.
    let stream =
        std::os::unix::net::UnixStream::connect(harness.runtime().join("control.sock")).unwrap();
    std::io::Write::write_all(
        &mut &stream,
        b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0-1\r\n\r\n",
    )
    .unwrap();
    let mut names = Vec::new();
    for line in BufReader::new(stream).lines() {
        if let Some(name) = line.unwrap().strip_prefix("event:") {
            names.push(name.trim().to_owned());
            if name.trim() == "tool_result" {
                break;
            }
        }
    }
    assert!(!names.contains(&"shell_output".to_owned()), "{names:?}");
}

fn what_was_told_is_whole_characters_that_follow_each_other() {
    let harness = start();
    let mut events = harness.events();
    let cmd = "for i in $(seq 300); do printf 'a語🦀ä'; done; printf '\\342'; sleep 0.2; printf '\\202\\254'";
    let result = harness.mcp(Some("shell")).ok("shell", &json!({"cmd": cmd}));
    let mut told = String::new();
    loop {
        let event = events.find(|event| {
            ["shell_output", "tool_result"].contains(&event["event"].as_str().unwrap())
        });
        if event["event"] == "tool_result" {
            break;
        }
        assert_eq!(event["offset"], told.len(), "{event}");
        told.push_str(event["delta"].as_str().unwrap());
    }
    assert!(told.ends_with('€') && !told.contains('\u{fffd}'), "{told}");
    assert_eq!(result["stdout"], told);
}

fn a_person_runs_a_command_with_its_streams_and_its_exit_code() {
    let harness = start();
    let output = harness.ctl(&["shell", "echo out; echo err >&2; exit 7"]);
    assert_eq!(
        (output.code, output.stdout.as_str(), output.stderr.as_str()),
        (7, "out\n", "err\n")
    );
    let output = harness.ctl(&["shell", "--", "printf", "%s|", "a b", "it's"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "a b|it's|"),
        "{output:?}"
    );
    let output = harness.ctl(&["shell", "kill -9 $$"]);
    assert_eq!(output.code, 137, "{output:?}");
    let output = harness.ctl(&["shell", "echo $0", "--shell", "sh", "--json"]);
    let result = output.ok().json();
    assert!(
        result["stdout"].as_str().unwrap().ends_with("/sh\n"),
        "{result}"
    );
    let calls = harness.get("/v1/calls");
    assert_eq!(calls["items"].as_array().unwrap().len(), 4, "{calls}");
    assert_eq!(calls["items"][0]["front"], "http");
}

fn a_person_sees_output_before_the_end() {
    let harness = start();
    let gate = gate(&harness);
    let mut ctl = command::command(binaries::program("harnessctl"));
    ctl.arg("--runtime-dir")
        .arg(harness.runtime())
        .args(["shell", "echo early; read x < gate; echo late"])
        .stdout(Stdio::piped());
    let mut child = ctl.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "early");
    std::fs::write(&gate, "go\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "late");
    assert!(lines.next().is_none());
    assert_eq!(command::wait(&mut child, PATIENCE), Some(0));
}

fn a_flood_reaches_a_person_whole_or_is_said_to_be_in_a_file() {
    let harness = start();
    let output = harness.ctl(&["shell", "seq 30000"]).ok();
    let expected: String = (1..=30_000).fold(String::new(), |text, n| text + &format!("{n}\n"));
    assert!(output.stdout == expected, "{} bytes", output.stdout.len());
    let output = harness.ctl(&["shell", "seq 1000000"]).ok();
    assert!(output.stdout.starts_with("1\n2\n"));
    assert!(output.stderr.contains("tool-output"), "{}", output.stderr);
}

fn a_person_whose_command_takes_too_long_gets_124_and_what_it_wrote() {
    let harness = start();
    let output = harness.ctl(&["shell", "echo begun; exec sleep 1000", "--timeout", "500ms"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (124, "begun\n"),
        "{output:?}"
    );
    assert!(output.stderr.contains("ETIMEDOUT"), "{output:?}");
}

fn a_directory_may_be_given_by_its_absolute_path() {
    let harness = start();
    std::fs::create_dir(harness.workspace().join("sub")).unwrap();
    let sub = harness.workspace().join("sub").display().to_string();
    for cwd in ["sub", &sub] {
        let output = harness.ctl(&["shell", "--cwd", cwd, "basename $PWD"]);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (0, "sub\n"),
            "{output:?}"
        );
    }
    let output = harness.ctl(&["shell", "--cwd", "/etc", "true"]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stderr.contains("EOUTSIDE_PROJECT"), "{output:?}");
}

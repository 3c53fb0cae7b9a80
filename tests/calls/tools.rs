//! `/v1/tools`, `harnessctl tools`, `call` and `calls`.

use harness_tests::{binaries, command, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        the_tools_of_the_groups_that_are_on_are_listed_and_described,
        a_tool_is_called_by_either_of_its_names,
        a_wrong_call_is_refused_with_what_would_be_right,
        a_call_can_bring_an_id_of_its_own_once,
        a_person_calls_a_tool_with_json_pairs_or_standard_input,
        a_timeline_has_the_oldest_call_first,
    ]
}

fn the_tools_of_the_groups_that_are_on_are_listed_and_described() {
    let harness = Harness::with_config("tool_groups = [\"shell\"]\n");
    let tools = harness.get("/v1/tools");
    let names: Vec<String> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            format!(
                "{}__{}",
                tool["group"].as_str().unwrap(),
                tool["name"].as_str().unwrap()
            )
        })
        .collect();
    assert!(names.contains(&"bash__run".to_owned()), "{names:?}");
    assert!(names.contains(&"shell__shell".to_owned()), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("wakes")),
        "{names:?}"
    );
    let tool = harness.get("/v1/tools/shell");
    assert_eq!(tool["annotations"]["destructiveHint"], true, "{tool}");
    assert_eq!(tool["input_schema"]["required"], json!(["cmd"]));
    let list = harness.ctl(&["tools"]).ok();
    let line = list
        .stdout
        .lines()
        .find(|line| line.starts_with("bash__list"));
    assert!(line.unwrap().contains("read-only"), "{list:?}");
    let one = harness.ctl(&["tools", "shell__shell"]).ok();
    for part in [
        "shell(cmd: string, cwd?: string, sandbox?: object, shell?: string, timeoutMs?: integer)",
        "destructive, open-world",
        "timeoutMs  The longest it may take",
    ] {
        assert!(one.stdout.contains(part), "{part}: {one:?}");
    }
    assert_eq!(
        harness.ctl(&["--json", "tools", "run"]).ok().json()["name"],
        "run"
    );
}

fn a_tool_is_called_by_either_of_its_names() {
    let harness = Harness::start();
    for name in ["run", "bash__run"] {
        let output = harness.post(
            &format!("/v1/tools/{name}/call"),
            &json!({"cmd": "echo hi", "wait_seconds": 30}),
        );
        assert_eq!(output["structured"]["stdout"]["tail"], "hi\n", "{output}");
        assert!(
            output["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("exit code 0")
        );
    }
    let reply = harness.http("POST", "/v1/tools/list/call", None);
    assert_eq!(reply.status, 200, "no body is no input: {reply:?}");
    // An end that was handed over needs no wake.
    assert_eq!(harness.get("/v1/wakes"), json!([]));
}

fn a_wrong_call_is_refused_with_what_would_be_right() {
    let harness = Harness::start();
    for (path, body, status, part) in [
        ("/v1/tools/rnu/call", "{}", 404, "run"),
        ("/v1/tools/bash__rnu/call", "{}", 404, "run"),
        ("/v1/tools/run/call", "[]", 400, "body"),
        ("/v1/tools/run/call", "{", 400, "body"),
        ("/v1/tools/run/call", "{}", 400, "run(cmd: string"),
        ("/v1/tools/run/call?id=short", "{}", 400, "id"),
        ("/v1/tools/run/call?ids=x", "{}", 400, "ids"),
        ("/v1/tools/..%2fx/call", "{}", 404, "no tool"),
    ] {
        let reply = harness.http("POST", path, Some(body));
        assert_eq!(reply.status, status, "{path} {body}: {reply:?}");
        let message = reply.json()["error"]["message"].to_string();
        assert!(message.contains(part), "{path} {body}: {message}");
    }
    assert_eq!(harness.http("GET", "/v1/tools/nothing", None).status, 404);
}

fn a_call_can_bring_an_id_of_its_own_once() {
    let harness = Harness::start();
    let path = "/v1/tools/list/call?id=abcdefabcdef";
    assert_eq!(harness.http("POST", path, None).status, 200);
    assert_eq!(harness.get("/v1/calls")["items"][0]["id"], "abcdefabcdef");
    let path = "/v1/tools/run/call?id=abcdefabcdef";
    let reply = harness.http("POST", path, Some(r#"{"cmd":"touch ran"}"#));
    assert_eq!(reply.status, 503, "{reply:?}");
    assert!(!harness.workspace().join("ran").exists());
}

fn a_person_calls_a_tool_with_json_pairs_or_standard_input() {
    let harness = Harness::start();
    let call = |words: &[&str], input: &str| {
        let mut ctl = command::command(binaries::program("harnessctl"));
        ctl.arg("--runtime-dir")
            .arg(harness.runtime())
            .arg("call")
            .args(words);
        command::run(ctl, input.as_bytes(), PATIENCE)
    };
    let output = call(&["run", r#"{"cmd":"echo json","wait_seconds":30}"#], "").ok();
    assert!(output.stdout.contains("stdout:\njson\n"), "{output:?}");
    let output = call(&["bash__run", "cmd=echo a=b", "wait_seconds=30"], "").ok();
    assert!(output.stdout.contains("stdout:\na=b\n"), "{output:?}");
    let output = call(
        &["run", "-", "cmd=echo over"],
        r#"{"cmd":"echo under","wait_seconds":30}"#,
    )
    .ok();
    assert!(output.stdout.contains("stdout:\nover\n"), "{output:?}");
    let output = harness
        .ctl(&["--json", "call", "list", "limit=1"])
        .ok()
        .json();
    assert_eq!(
        output["structured"]["tasks"].as_array().unwrap().len(),
        1,
        "{output}"
    );
    for (words, code) in [
        (&["run", "word"][..], 2),
        (&["run", "{"], 2),
        (&["rnu", "cmd=x"], 1),
        (&["run", "cmd=x", "x=1"], 1),
        (&["status", "id=zzzzzzzz"], 1),
    ] {
        let output = call(words, "");
        assert_eq!(output.code, code, "{words:?}: {output:?}");
        assert!(
            !output.stderr.is_empty() && output.stdout.is_empty(),
            "{output:?}"
        );
    }
}

fn a_timeline_has_the_oldest_call_first() {
    let harness = Harness::start();
    harness.ctl(&["call", "list"]).ok();
    harness.ctl(&["run", "--wait=30", "--", "true"]).ok();
    let output = harness.ctl(&["calls"]).ok();
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(
        lines[1].contains("bash.list") && lines[2].contains("bash.run"),
        "{output:?}"
    );
}

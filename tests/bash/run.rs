//! `run`, `status` and `list`.

use harness_tests::{harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_short_task_comes_back_with_its_full_status,
        a_long_task_comes_back_as_started_and_can_be_waited_for,
        wait_zero_returns_at_once,
        a_command_that_begins_like_an_option_is_a_command,
        a_command_runs_in_the_workspace_unless_it_says_otherwise,
        a_variable_of_the_call_reaches_the_task,
        secrets_of_the_daemon_do_not_reach_a_task,
        an_exit_code_is_not_an_error_of_the_tool,
        the_list_has_the_newest_first_and_goes_on_where_it_ended,
        the_schemas_are_closed_and_hold_no_references,
        a_failed_task_is_restarted_until_its_limit,
        a_task_of_a_name_is_listed_with_it,
    ]
}

fn a_short_task_comes_back_with_its_full_status() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let result = session.call("run", &json!({"cmd": "echo out; echo err >&2; exit 3"}));
    let status = &result["structuredContent"];
    assert_eq!(status["status"], "done", "{result}");
    assert_eq!(status["exit_code"], 3);
    assert_eq!(status["signal"], json!(null));
    assert_eq!(status["result"], "exit-code");
    assert_eq!(status["active_state"], "failed");
    assert_eq!(status["sub_state"], "failed");
    assert_eq!(status["restarts"], 0);
    assert_eq!(status["stdout"]["tail"], "out\n");
    assert_eq!(status["stderr"]["tail"], "err\n");
    assert_eq!(status["stdout"]["bytes"], 4);
    assert!(text(&result).contains("exit code 3"), "{result}");
}

fn a_long_task_comes_back_as_started_and_can_be_waited_for() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let result = session.call(
        "run",
        &json!({"cmd": "read line < gate; echo $line", "wait_seconds": 0.05}),
    );
    let id = result["structuredContent"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(text(&result), format!("task started: id={id}"));
    assert_eq!(result["structuredContent"]["status"], "running");
    let waiting = session.begin(
        "tools/call",
        &json!({"name": "status", "arguments": {"id": id, "wait_seconds": 30}}),
    );
    std::fs::write(&gate, "go\n").unwrap();
    let status = &session.reply(waiting)["result"]["structuredContent"];
    assert_eq!(status["status"], "done", "{status}");
    assert_eq!(status["exit_code"], 0);
    assert_eq!(status["stdout"]["tail"], "go\n");
}

fn wait_zero_returns_at_once() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let result = session.call("run", &json!({"cmd": "sleep 1000", "wait_seconds": 0}));
    assert!(text(&result).starts_with("task started: id="), "{result}");
}

fn a_command_that_begins_like_an_option_is_a_command() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "-x 2>/dev/null; echo $?"}));
    assert_eq!(status["stdout"]["tail"], "127\n", "{status}");
}

fn a_command_runs_in_the_workspace_unless_it_says_otherwise() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    std::fs::create_dir(harness.workspace().join("sub")).unwrap();
    let here = harness.workspace().canonicalize().unwrap();
    let tail = session.ok("run", &json!({"cmd": "pwd -P"}))["stdout"]["tail"].clone();
    assert_eq!(tail, format!("{}\n", here.display()));
    let tail = session.ok("run", &json!({"cmd": "pwd -P", "cwd": "sub"}))["stdout"]["tail"].clone();
    assert_eq!(tail, format!("{}/sub\n", here.display()));
}

fn a_variable_of_the_call_reaches_the_task() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok(
        "run",
        &json!({"cmd": "printf %s \"$GREETING\"", "env": {"GREETING": "h\u{e9}llo\n$x"}}),
    );
    assert_eq!(status["stdout"]["tail"], "h\u{e9}llo\n$x");
}

fn secrets_of_the_daemon_do_not_reach_a_task() {
    let mut harness = Harness::prepared("");
    let mut command = harness.daemon_command();
    command.envs([
        ("GITHUB_TOKEN", "s3cret"),
        ("LD_PRELOAD", ""),
        ("PLAIN", "yes"),
    ]);
    harness.start_with(command);
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "echo ${GITHUB_TOKEN-none} ${LD_PRELOAD-none} ${NOTIFY_SOCKET-none} $PLAIN"}));
    assert_eq!(status["stdout"]["tail"], "none none none yes\n");
}

fn an_exit_code_is_not_an_error_of_the_tool() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let result = session.call("run", &json!({"cmd": "false"}));
    assert_ne!(result["isError"], true, "{result}");
}

fn the_list_has_the_newest_first_and_goes_on_where_it_ended() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    for number in 0..5 {
        session.ok("run", &json!({"cmd": format!("echo {number}")}));
    }
    let first = session.ok("list", &json!({"limit": 3}));
    let second = session.ok("list", &json!({"limit": 3, "before": first["next"]}));
    let commands: Vec<_> = [&first, &second]
        .iter()
        .flat_map(|page| page["tasks"].as_array().unwrap())
        .map(|task| task["cmd"].as_str().unwrap())
        .collect();
    assert_eq!(commands, ["echo 4", "echo 3", "echo 2", "echo 1", "echo 0"]);
    assert_eq!(second["next"], json!(null));
}

fn the_schemas_are_closed_and_hold_no_references() {
    let harness = Harness::start();
    let mut session = harness.mcp(None);
    let tools = session.request("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in [
        "bash__run",
        "bash__status",
        "bash__list",
        "bash__output",
        "bash__stop",
        "bash__signal",
        "wakes__wakes_recv",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert!(!tool["inputSchema"].to_string().contains("$ref"), "{tool}");
    }
}

fn a_failed_task_is_restarted_until_its_limit() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let unit = json!({"restart": "on-failure", "restart_sec": 0, "start_limit_burst": 3});
    let status = session.ok(
        "run",
        &json!({"cmd": "echo x >> starts; exit 1", "unit": unit, "wait_seconds": 30}),
    );
    assert_eq!(status["result"], "exit-code", "{status}");
    assert_eq!(status["active_state"], "failed");
    assert_eq!(
        std::fs::read_to_string(harness.workspace().join("starts")).unwrap(),
        "x\nx\nx\n"
    );
}

fn a_task_of_a_name_is_listed_with_it() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    session.ok("run", &json!({"cmd": "true", "name": "the build"}));
    assert_eq!(
        session.ok("list", &json!({}))["tasks"][0]["name"],
        "the build"
    );
}

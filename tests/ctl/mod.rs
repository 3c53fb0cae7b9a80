//! `harnessctl`, as a person uses it.

use harness_tests::{binaries, command, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        the_life_of_a_task_on_the_command_line,
        json_is_the_only_thing_on_stdout,
        a_harness_that_does_not_run_is_exit_code_three_and_says_what_to_do,
        a_wrong_word_is_exit_code_two,
        control_and_bidi_characters_are_shown_escaped,
        the_config_for_each_client_is_complete_and_blocks_its_own_shell,
        the_bridge_carries_a_session_to_its_end,
        a_reload_with_a_bad_file_keeps_the_old_configuration_and_says_why,
        a_check_names_the_file_the_line_and_the_nearest_name,
    ]
}

fn the_life_of_a_task_on_the_command_line() {
    let harness = Harness::start();
    let id = harness
        .ctl(&["--json", "run", "--name", "napper", "--", "sleep", "1000"])
        .ok()
        .json()["id"]
        .clone();
    let id = id.as_str().unwrap();
    let list = harness.ctl(&["list"]).ok();
    assert!(
        list.stdout.contains(id) && list.stdout.contains("running"),
        "{list:?}"
    );
    harness.ctl(&["stop", id]).ok();
    let status = harness.ctl(&["--json", "status", id]).ok().json();
    assert_eq!(status["status"], "stopped", "{status}");
    harness.ctl(&["restart", id]).ok();
    harness.ctl(&["signal", id, "KILL"]).ok();
    assert_eq!(harness.ctl(&["wait", id]).code, 137);
    harness.ctl(&["wakes", "--ack"]).ok();
    let run = harness.ctl(&["run", "--wait=30", "--", "echo out; exit 7"]);
    assert_eq!(run.code, 7, "{run:?}");
    let wakes = harness.ctl(&["--json", "wakes"]).ok().json();
    assert_eq!(
        wakes,
        serde_json::json!([]),
        "what was waited for sends no wake"
    );
}

fn json_is_the_only_thing_on_stdout() {
    let harness = Harness::start();
    harness.ctl(&["run", "--wait=30", "--", "true"]).ok();
    for words in [
        &["status"][..],
        &["list"],
        &["wakes"],
        &["units"],
        &["calls"],
    ] {
        let words: Vec<&str> = ["--json"].iter().chain(words).copied().collect();
        let output = harness.ctl(&words).ok();
        serde_json::from_str::<Value>(&output.stdout)
            .unwrap_or_else(|error| panic!("{words:?}: {error}: {output:?}"));
        assert!(
            !output.stdout.contains('\u{1b}'),
            "{words:?}: colour without a terminal"
        );
    }
}

fn a_harness_that_does_not_run_is_exit_code_three_and_says_what_to_do() {
    let harness = Harness::prepared("");
    let output = harness.ctl(&["status"]);
    assert_eq!(output.code, 3, "{output:?}");
    assert!(output.stderr.contains("harnessd"), "{output:?}");
}

fn a_wrong_word_is_exit_code_two() {
    let harness = Harness::prepared("");
    assert_eq!(harness.ctl(&["frobnicate"]).code, 2);
    assert_eq!(harness.ctl(&["signal", "abc"]).code, 2);
}

fn control_and_bidi_characters_are_shown_escaped() {
    let harness = Harness::start();
    harness
        .ctl(&["run", "--wait=30", "--", "true # \u{202e}evil\u{1b}[31m"])
        .ok();
    let list = harness.ctl(&["list"]).ok();
    assert!(
        !list.stdout.contains('\u{202e}') && !list.stdout.contains('\u{1b}'),
        "{list:?}"
    );
    assert!(list.stdout.contains("202e"), "{list:?}");
}

fn the_config_for_each_client_is_complete_and_blocks_its_own_shell() {
    let harness = Harness::start();
    let claude = harness.ctl(&["mcp-config", "--client", "claude"]).ok();
    let server = &claude.json()["mcpServers"]["bash"];
    assert!(
        std::path::Path::new(server["command"].as_str().unwrap()).exists(),
        "{claude:?}"
    );
    assert!(
        claude.stderr.contains("mcp__bash__") && claude.stderr.contains("Bash"),
        "{claude:?}"
    );
    let codex = harness.ctl(&["mcp-config", "--client", "codex"]).ok();
    assert!(codex.stdout.contains("[mcp_servers.bash]"), "{codex:?}");
    harness
        .ctl(&["mcp-config", "--client", "generic"])
        .ok()
        .json();
}

fn the_bridge_carries_a_session_to_its_end() {
    let harness = Harness::start();
    let config = harness
        .ctl(&["mcp-config", "--client", "claude"])
        .ok()
        .json();
    let server = &config["mcpServers"]["bash"];
    let mut bridge = command::command(server["command"].as_str().unwrap());
    bridge.args(
        server["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap()),
    );
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"cmd":"echo through"}}}"#,
    ];
    let output = command::run(
        bridge,
        format!("{}\n", lines.join("\n")).as_bytes(),
        PATIENCE,
    );
    let replies: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let reply = replies
        .iter()
        .find(|reply| reply["id"] == 2)
        .unwrap_or_else(|| panic!("{output:?}"));
    assert_eq!(
        reply["result"]["structuredContent"]["stdout"]["tail"], "through\n",
        "{reply}"
    );
}

fn a_reload_with_a_bad_file_keeps_the_old_configuration_and_says_why() {
    let harness = Harness::with_config("[bash]\nmax_tasks = 1\n");
    harness.write_config("[bash]\nmax_taks = 5\n");
    let output = harness.ctl(&["reload"]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stderr.contains("max_tasks"), "{output:?}");
    assert!(
        harness.get("/v1/status")["config_error"]
            .as_str()
            .unwrap()
            .contains("max_taks")
    );
    harness.write_config("[bash]\nmax_tasks = 5\n");
    harness.ctl(&["reload"]).ok();
    assert_eq!(harness.get("/v1/status")["config_error"], Value::Null);
}

fn a_check_names_the_file_the_line_and_the_nearest_name() {
    let harness = Harness::prepared("tool_groups = [\"wakse\"]\n[bash]\nmax_taks = 5\n");
    let mut check = command::command(binaries::program("harnessd"));
    check
        .arg("--check")
        .arg("--config")
        .arg(harness.path("test.toml"));
    let output = command::run(check, b"", PATIENCE);
    assert_eq!(output.code, 1, "{output:?}");
    for part in ["test.toml:2:", "wakes", "test.toml:4:", "max_tasks"] {
        assert!(output.stderr.contains(part), "{part}: {output:?}");
    }
    harness.write_config("");
    let mut check = command::command(binaries::program("harnessd"));
    check
        .arg("--check")
        .arg("--config")
        .arg(harness.path("test.toml"));
    assert_eq!(command::run(check, b"", PATIENCE).code, 0);
}

//! Names, inputs, outputs.

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::Value;

use super::{error, script, stdout};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        tools_are_on_the_path_of_tasks_and_shell_calls,
        help_names_servers_tools_and_schemas,
        search_finds_names_before_descriptions,
        input_comes_from_words_json_and_standard_input,
        a_wrong_name_or_input_is_one_line_of_json_and_status_1,
        standard_input_of_a_loop_is_left_alone,
        a_word_that_is_not_utf8_is_refused,
        python_and_make_call_tools_too,
    ]
}

fn tools_are_on_the_path_of_tasks_and_shell_calls() {
    let harness = Harness::with_config(
        "tool_groups = [\"shell\", \"wakes\"]\n[tool.shell]\nmode = \"allow\"\n",
    );
    let status = script(&harness, "tools list limit=1 | grep -c tasks");
    assert_eq!(stdout(&status), "1\n", "{status}");
    let mut session = harness.mcp(Some("shell"));
    let result = session.ok(
        "shell",
        &serde_json::json!({"cmd": "tools list limit=1 | grep -c tasks"}),
    );
    assert_eq!(result["stdout"], "1\n", "{result}");
}

fn help_names_servers_tools_and_schemas() {
    let harness = Harness::start();
    let all = script(&harness, "tools --help");
    assert!(stdout(&all).contains("bash (7 tools)"), "{all}");
    let group = script(&harness, "tools bash --help");
    assert!(
        stdout(&group)
            .lines()
            .any(|line| line.starts_with("status ")),
        "{group}"
    );
    let tool = script(&harness, "tools bash status --help");
    assert!(
        stdout(&tool).contains("status(id: string, wait_seconds?: number)"),
        "{tool}"
    );
    let schema = stdout(&tool)
        .lines()
        .find_map(|line| line.strip_prefix("input schema: "))
        .unwrap();
    let schema: Value = serde_json::from_str(schema).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        stdout(&script(&harness, "tools help bash status")),
        stdout(&tool)
    );
}

fn search_finds_names_before_descriptions() {
    let harness = Harness::start();
    let found = script(&harness, "tools search status");
    assert!(stdout(&found).starts_with("bash status "), "{found}");
    let none = script(&harness, "tools search nothing-has-this");
    assert!(stdout(&none).starts_with("no tool has"), "{none}");
}

fn input_comes_from_words_json_and_standard_input() {
    let harness = Harness::start();
    for call in [
        "tools bash list limit=1",
        "tools bash list --limit 1",
        "tools bash list --limit=1",
        "tools list '{\"limit\":1}'",
        "tools list '{\"limit\":2}' limit=1",
        "echo '{\"limit\":1}' | tools list",
        "echo '{\"limit\":2}' | tools list - limit=1",
        "tools list - <<< '{\"limit\":1}'",
    ] {
        let status = script(&harness, &format!("{call} | tr , '\\n' | grep -c '\"id\"'"));
        assert_eq!(stdout(&status), "1\n", "{call}: {status}");
    }
}

fn a_wrong_name_or_input_is_one_line_of_json_and_status_1() {
    let harness = Harness::start();
    for (call, code, message) in [
        (
            "tools nothing",
            "unknown_command",
            "there is no server or tool",
        ),
        (
            "tools bash statsu",
            "unknown_command",
            "did you mean `status`?",
        ),
        ("tools bash list limit=x", "invalid_input", "list("),
        ("tools bash list lmit=1", "invalid_input", "list("),
        ("tools bash list word", "invalid_input", "list("),
        ("tools bash list '[1]'", "invalid_input", "list("),
        (
            "echo '[1]' | tools bash list",
            "invalid_input",
            "not a JSON object",
        ),
        (
            "printf '\\xff' | tools bash list",
            "invalid_input",
            "not UTF-8",
        ),
        (
            "tools bash status id=00000000",
            "unknown_command",
            "00000000",
        ),
    ] {
        let status = script(&harness, call);
        let error = error(&status);
        assert_eq!(error["code"], code, "{call}: {status}");
        assert_eq!(error["retryable"], false, "{call}");
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{call}: {error}"
        );
        assert_eq!(status["exit_code"], 1, "{call}");
    }
}

fn standard_input_of_a_loop_is_left_alone() {
    let harness = Harness::start();
    let status = script(
        &harness,
        "printf '1\\n2\\n3\\n' | while read -r n; do tools list limit=$n >/dev/null; echo $n; done",
    );
    assert_eq!(stdout(&status), "1\n2\n3\n", "{status}");
}

fn a_word_that_is_not_utf8_is_refused() {
    let harness = Harness::start();
    let status = script(&harness, "tools bash list $'limit=\\xff'");
    assert_eq!(error(&status)["code"], "invalid_input", "{status}");
}

fn python_and_make_call_tools_too() {
    let harness = Harness::start();
    std::fs::write(
        harness.workspace().join("Makefile"),
        "all:\n\t@tools bash list limit=1 | grep -c tasks\n",
    )
    .unwrap();
    let status = script(&harness, "make -s");
    assert_eq!(stdout(&status), "1\n", "{status}");
    let python = "python3 -c 'import json, subprocess; \
        print(len(json.loads(subprocess.check_output([\"tools\", \"list\", \"limit=1\"]))[\"tasks\"]))'";
    let status = script(&harness, python);
    assert_eq!(stdout(&status), "1\n", "{status}");
}

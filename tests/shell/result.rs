//! What comes back.

use harness_tests::{harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{ALLOWED, run, start};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_command_gives_its_output_its_exit_code_and_what_ran_it,
        the_identity_stands_before_the_first_result_of_a_session_alone,
        a_command_ended_by_a_signal_has_no_exit_code,
        long_output_is_cut_between_characters_and_all_of_it_is_in_a_file,
        output_that_is_not_text_is_shown_as_replacement_characters,
        short_output_leaves_no_file,
        it_has_no_input_and_no_terminal,
        the_command_reaches_the_interpreter_as_it_is,
        variables_that_load_code_or_hold_secrets_do_not_reach_it,
        the_tool_is_described_with_a_closed_schema,
        a_shell_call_is_a_unit_of_its_own_kind_and_sends_no_wake,
    ]
}

fn a_command_gives_its_output_its_exit_code_and_what_ran_it() {
    let harness = start();
    let mut session = harness.mcp(Some("shell"));
    let result = run(&mut session, "echo out; echo err >&2; exit 3");
    assert_eq!(result["stdout"], "out\n", "{result}");
    assert_eq!(result["stderr"], "err\n");
    assert_eq!(result["exitCode"], 3);
    assert!(result["durationMs"].as_u64().unwrap() < 30_000);
    let identity = result["identity"].as_str().unwrap();
    let parts: Vec<&str> = identity.split(" · ").collect();
    assert_eq!(parts.len(), 3, "{identity}");
    assert_eq!(parts[0], "harnessd shell");
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    assert!(
        parts[1] == "Linux" || system.contains(parts[1]),
        "{identity}"
    );
    let path = parts[2]
        .strip_prefix("bash (")
        .and_then(|rest| rest.strip_suffix(')'));
    assert!(
        std::path::Path::new(path.unwrap()).is_absolute(),
        "{identity}"
    );
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["durationMs", "exitCode", "identity", "stderr", "stdout"]
    );
}

fn the_identity_stands_before_the_first_result_of_a_session_alone() {
    let harness = start();
    for _ in 0..2 {
        let mut session = harness.mcp(Some("shell"));
        let first = session.call("shell", &json!({"cmd": "echo one"}));
        let identity = first["structuredContent"]["identity"].as_str().unwrap();
        assert_eq!(text(&first).lines().next(), Some(identity), "{first}");
        assert!(text(&first).ends_with("stdout:\none\n"), "{first}");
        let second = session.call("shell", &json!({"cmd": "echo two"}));
        assert!(!text(&second).contains("harnessd shell"), "{second}");
        assert_eq!(second["structuredContent"]["identity"], identity);
    }
}

fn a_command_ended_by_a_signal_has_no_exit_code() {
    let harness = start();
    let result = run(&mut harness.mcp(Some("shell")), "kill -9 $$");
    assert_eq!(result["exitCode"], Value::Null, "{result}");
    assert_eq!(result["signal"], "SIGKILL");
}

fn long_output_is_cut_between_characters_and_all_of_it_is_in_a_file() {
    let harness = start();
    let cmd = "yes ä | tr -d '\\n' | head -c 700000; echo short >&2; exit 4";
    let result = run(&mut harness.mcp(Some("shell")), cmd);
    let stdout = result["stdout"].as_str().unwrap();
    let (kept, last) = stdout.rsplit_once('\n').unwrap();
    assert_eq!(last, "...[truncated at 262144 chars]");
    assert_eq!(kept.chars().count(), 262_144);
    assert!(kept.chars().all(|c| c == 'ä'));
    assert_eq!(result["exitCode"], 4);
    assert_eq!(result["stderr"], "short\n");
    assert!(result.get("stderrFile").is_none());
    let file = std::path::Path::new(result["stdoutFile"].as_str().unwrap());
    assert!(
        file.starts_with(harness.state().join("tool-output")),
        "{}",
        file.display()
    );
    assert_eq!(std::fs::metadata(file).unwrap().len(), 700_000);
}

fn output_that_is_not_text_is_shown_as_replacement_characters() {
    let harness = start();
    let result = run(
        &mut harness.mcp(Some("shell")),
        r"printf 'a\377\0b\342\202'",
    );
    assert_eq!(result["stdout"], "a\u{fffd}\0b\u{fffd}", "{result}");
}

fn short_output_leaves_no_file() {
    let harness = start();
    run(&mut harness.mcp(Some("shell")), "echo x");
    let left: Vec<_> = std::fs::read_dir(harness.state().join("tool-output"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

fn it_has_no_input_and_no_terminal() {
    let harness = start();
    let cmd =
        "cat; read x; echo $?; readlink /proc/self/fd/0; (: < /dev/tty) 2>/dev/null || echo none";
    let result = run(&mut harness.mcp(Some("shell")), cmd);
    assert_eq!(result["stdout"], "1\n/dev/null\nnone\n", "{result}");
}

fn the_command_reaches_the_interpreter_as_it_is() {
    let harness = start();
    let mut session = harness.mcp(Some("shell"));
    for (cmd, expected) in [
        (
            "printf '%s|' \"a  b\" 'c\"d' \\\\ $((1+1))",
            "a  b|c\"d|\\|2|",
        ),
        ("cat <<'END'\n$HOME `x`\nEND\n", "$HOME `x`\n"),
        ("echo ünïcode 🦀 | tr a-z A-Z", "üNïCODE 🦀\n"),
        ("-x 2>/dev/null; echo $?", "127\n"),
        ("  echo spaces  ", "spaces\n"),
    ] {
        assert_eq!(run(&mut session, cmd)["stdout"], expected, "{cmd}");
    }
}

fn variables_that_load_code_or_hold_secrets_do_not_reach_it() {
    let mut harness = Harness::prepared(ALLOWED);
    let mut daemon = harness.daemon_command();
    let withheld = [
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "BASH_ENV",
        "ENV",
        "PYTHONSTARTUP",
        "LISTEN_FDNAMES",
        "WATCHDOG_USEC_OF_ANOTHER",
        "CREDENTIALS_DIRECTORY",
        "MY_SECRET_THING",
        "api_key",
    ];
    for name in withheld {
        daemon.env(name, "/nonexistent/value");
    }
    daemon.env("PLAIN", "kept");
    harness.start_with(daemon);
    let result = run(&mut harness.mcp(Some("shell")), "env");
    let stdout = result["stdout"].as_str().unwrap();
    let has = |name: &str| {
        stdout
            .lines()
            .any(|line| line.split('=').next() == Some(name))
    };
    for name in withheld.into_iter().chain(["LD_PRELOAD", "NOTIFY_SOCKET"]) {
        assert!(!has(name), "{name}: {stdout}");
    }
    assert!(has("PATH") && stdout.contains("PLAIN=kept\n"), "{stdout}");
}

fn the_tool_is_described_with_a_closed_schema() {
    let harness = start();
    let mut session = harness.mcp(Some("shell"));
    let listed = session.request("tools/list", &json!({}));
    let tool = &listed["result"]["tools"][0];
    assert_eq!(tool["name"], "shell", "{listed}");
    assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    assert_eq!(tool["inputSchema"]["required"], json!(["cmd"]));
    let properties = tool["inputSchema"]["properties"].as_object().unwrap();
    let names: Vec<&String> = properties.keys().collect();
    assert_eq!(names, ["cmd", "cwd", "sandbox", "shell", "timeoutMs"]);
    let sandbox = &properties["sandbox"];
    assert!(
        sandbox
            .to_string()
            .contains("\"additionalProperties\":false"),
        "{sandbox}"
    );
    let refused = session.call("shell", &json!({"cmd": "true", "timeout_ms": 5}));
    assert!(
        text(&refused).contains(
            "shell(cmd: string, cwd?: string, sandbox?: object, shell?: string, timeoutMs?: integer)"
        ),
        "{refused}"
    );
}

fn a_shell_call_is_a_unit_of_its_own_kind_and_sends_no_wake() {
    let harness = start();
    run(&mut harness.mcp(Some("shell")), "true");
    let units = harness.get("/v1/units?kind=shell");
    assert_eq!(units["items"][0]["command"], "true", "{units}");
    assert_eq!(harness.get("/v1/tasks")["items"], json!([]));
    assert_eq!(harness.get("/v1/wakes"), json!([]));
}

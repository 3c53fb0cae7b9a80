//! The files for MCP clients.

use serde_json::json;

use crate::{
    program::{Ended, call, program},
    support::{FakeHarness, reply, status},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_harnessctl");

#[test]
fn claudes_file_has_a_server_for_each_group_and_mcp_server_and_the_flags_beside_it() {
    let harness = FakeHarness::start(|_, stream| reply(stream, 200, &status()));
    let ended = call(&harness, &["mcp-config", "--client", "claude"]);
    let place = harness.directory.path().to_str().unwrap();
    let server = |option: &str, name: &str| json!({"type": "stdio", "command": PROGRAM, "args": ["--runtime-dir", place, "mcp", option, name]});
    let expected = json!({
        "bash": server("--group", "bash"), "wakes": server("--group", "wakes"), "git hub": server("--server", "git hub"),
    });
    assert_eq!(ended.json(), json!({ "mcpServers": expected }));
    for part in [
        "--strict-mcp-config",
        "\"mcp__bash__*,mcp__wakes__*,mcp__git_hub__*\"",
        "--disallowedTools \"Bash\"",
    ] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
}

#[test]
fn without_a_harness_the_groups_of_every_harness_are_there_and_the_default_place_is_not_spelled_out()
 {
    let ended = Ended::of(
        program(&["mcp-config", "--client", "generic", "--agent", "default"])
            .output()
            .unwrap(),
    );
    assert_eq!(ended.code, 0);
    let servers = ended.json()["mcpServers"].clone();
    assert_eq!(
        servers["bash"],
        json!({"command": PROGRAM, "args": ["mcp", "--group", "bash"]})
    );
    assert!(servers["wakes"].is_object());
    assert!(
        ended.stderr.contains("no harness is running"),
        "{}",
        ended.stderr
    );
}

#[test]
fn named_groups_come_beside_bash_and_a_named_agent_is_passed_on() {
    let arguments = [
        "--agent",
        "coder",
        "mcp-config",
        "--client",
        "codex",
        "--group",
        "shell",
        "--group",
        "bash",
    ];
    let ended = Ended::of(program(&arguments).output().unwrap());
    let file: toml::Table = ended.stdout.parse().unwrap();
    let servers = file["mcp_servers"].as_table().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["bash", "shell"]);
    let args = serde_json::to_value(&servers["shell"]["args"]).unwrap();
    assert_eq!(args, json!(["--agent", "coder", "mcp", "--group", "shell"]));
    assert_eq!(servers["bash"]["command"].as_str(), Some(PROGRAM));
    assert!(
        ended.stderr.contains("--disable shell_tool"),
        "{}",
        ended.stderr
    );
}

//! Names of things that must exist.

use std::path::PathBuf;

use super::Desk;
use crate::config::Mode;

#[test]
fn a_dead_reference_is_an_error_with_the_nearest_right_name() {
    let desk = Desk::new();
    for (text, complaint) in [
        (
            "tool_groups = [\"wake\"]",
            "a.toml:1:16: tool_groups[0]: there is no tool group \"wake\"; did you mean `wakes`?",
        ),
        (
            "[bash]\nshell = \"bahs\"",
            "a.toml:2:9: bash.shell: there is no program \"bahs\" in PATH; did you mean `bash`?",
        ),
        (
            "[turn]\ncommand = [\"gurad\", \"-p\"]",
            "a.toml:2:12: turn.command[0]: there is no program \"gurad\" in PATH; did you mean `guard`?",
        ),
        (
            "[turn]\ncommand = []",
            "a.toml:2:11: turn.command: the command is empty: name a program",
        ),
        (
            "[control]\nadmins = [\"no-such-user\"]",
            "a.toml:2:11: control.admins[0]: there is no user \"no-such-user\"",
        ),
    ] {
        assert_eq!(desk.complaint(text), complaint);
    }
}

#[test]
fn a_dead_tool_library_or_server_is_an_error() {
    let desk = Desk::new();
    desk.write("plugins/libharness_nix.so", "");
    let path = desk.path("plugins").display().to_string();
    let mut desk = desk;
    desk.host
        .variables
        .insert("HARNESSD_PLUGIN_PATH".to_owned(), path);
    for (text, part) in [
        (
            "[tool.rnu]",
            "a.toml:1:7: tool.rnu: there is no tool \"rnu\"; did you mean `run`?",
        ),
        (
            "[tool.\"gitlab__*\"]",
            "a.toml:1:7: tool.\"gitlab__*\": \"gitlab__*\" matches no tool",
        ),
        (
            "[approval]\nkeep_visible = [\"gihtub\"]\n[mcp.github]\ncommand = [\"guard\"]",
            "a.toml:2:17: approval.keep_visible[0]: there is no tool group or MCP server \"gihtub\"; did you mean `github`?",
        ),
        (
            "[plugin.nix]\nlibrary = \"libharness_nxi.so\"",
            "a.toml:2:11: plugin.nix.library: there is no library libharness_nxi.so; did you mean `libharness_nix.so`?",
        ),
        (
            "[mcp.bash]\ncommand = [\"guard\"]",
            "a.toml:1:6: mcp.bash: a built-in tool group has this name: choose another",
        ),
        (
            "[mcp.a]",
            "a.toml:1:6: mcp.a: the server has neither a command nor a url: set one",
        ),
        (
            "[[hook]]\nevent = \"pre_call\"\ncommand = [\"gaurd\"]",
            "a.toml:3:12: hook[0].command[0]: there is no program \"gaurd\" in PATH; did you mean `guard`?",
        ),
        (
            "[approval]\nrater = [\"/nowhere/rater\"]",
            "a.toml:2:10: approval.rater[0]: there is no program at /nowhere/rater",
        ),
        (
            "[[hook]]\nevent = \"pre_call\"\ncommand = [\"guard\"]\ntools = [\"nope\"]",
            "a.toml:4:10: hook[0].tools[0]: there is no tool \"nope\"",
        ),
    ] {
        let complaints = desk.complaints(text);
        assert!(
            complaints.iter().any(|one| one.starts_with(part)),
            "{text}: {complaints:#?}"
        );
    }
    desk.load("tool_groups = [\"nix\"]\n[plugin.nix]\nlibrary = \"libharness_nix.so\"\n[tool.nix__build]\n[tool.\"n*\"]\n")
        .unwrap();
}

#[test]
fn a_program_by_its_path_must_be_there_and_executable() {
    let desk = Desk::new();
    desk.write("bin/plain", "");
    let shell = |name: &str| format!("[bash]\nshell = \"{}\"", desk.path(name).display());
    assert_eq!(
        desk.load(&shell("bin/guard")).unwrap().shell,
        desk.path("bin/guard")
    );
    assert!(
        desk.complaint(&shell("bin/plain"))
            .ends_with("it is there, but not executable")
    );
    assert!(
        desk.complaint(&shell("bin/gaurd"))
            .ends_with("did you mean `guard`?")
    );
    assert!(
        desk.complaint("[bash]\nshell = \"bin/bash\"")
            .contains("an absolute path")
    );
}

#[test]
fn the_workspace_must_be_a_directory_and_in_system_mode_be_set() {
    let mut desk = Desk::new();
    for (text, part) in [
        ("workspace = \"place\"", "absolute path"),
        ("workspace = \"~/nope\"", "there is no directory"),
        ("workspace = \"~/bin/bash\"", "there is no directory"),
        ("workspace = \"~/place/../place\"", "without \"..\""),
    ] {
        let complaint = desk.complaint(text);
        assert!(
            complaint.starts_with("a.toml:1:13: workspace: "),
            "{complaint}"
        );
        assert!(complaint.contains(part), "{complaint}");
    }
    desk.mode = Mode::System;
    assert!(
        desk.complaint("trace = true")
            .starts_with("workspace: it is not set")
    );
}

#[test]
fn offline_what_is_not_here_is_not_missed_but_what_is_here_is_checked() {
    let mut desk = Desk::new();
    desk.host.offline = true;
    desk.host.variables.remove("PATH");
    let text = "workspace = \"/srv/no-such-place/coder\"\n[turn]\ncommand = [\"/no-such-place/bin/x\"]\n[mcp_http]\nlisten = \"127.0.0.1:1\"\ntoken_file = \"secret\"\n";
    let loaded = desk.load(text).unwrap();
    assert_eq!(loaded.workspace, PathBuf::from("/srv/no-such-place/coder"));
    // A build without a sandbox sees the directory above it.
    let workspace = desk.path("not-made-yet");
    let text = format!("workspace = \"{}\"", workspace.display());
    assert_eq!(desk.load(&text).unwrap().workspace, workspace);
    let text = format!(
        "[turn]\ncommand = [\"{}\"]",
        desk.path("bin/gaurd").display()
    );
    assert!(desk.complaint(&text).ends_with("did you mean `guard`?"));
}

#[test]
fn what_may_be_executed_beneath_an_allowlist_has_to_be_there() {
    let desk = Desk::new();
    let text = |entries: &str| {
        format!("[tool.run]\nmode = \"allowlist\"\nallowlist = [\"ls\"]\nexecute = [{entries}]\n")
    };
    let bin = desk.path("bin").display().to_string();
    let all = format!("\"*\", \"guard\", \"~/bin/guard\", \"~\", \"{bin}\"");
    assert!(desk.load(&text(&all)).unwrap().warnings.is_empty());
    for (entry, expected) in [
        ("gaurd", "did you mean `guard`?"),
        ("", "no name"),
        (
            "bin/guard",
            "expected the name of a program, an absolute path",
        ),
        ("~x", "expected the name of a program, an absolute path"),
        ("/nowhere", "no program or directory /nowhere"),
        ("~/a.toml", "no program or directory"),
    ] {
        let complaint = desk.complaint(&text(&format!("\"{entry}\"")));
        assert!(complaint.contains(expected), "{entry}: {complaint}");
        assert!(complaint.contains("a.toml:4:"), "{complaint}");
    }
}

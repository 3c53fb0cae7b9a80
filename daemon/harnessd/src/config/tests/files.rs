//! Several files as one, and files that are none.

use harness_model::{ByteSize, Restart, TimeSpan};
use proptest::prelude::*;

use super::{Desk, ONE, TWO};
use crate::config::{Changes, Mode, Part, schema::ToolMode};

/// The example of the design, with the parts of this machine put in.
const EXAMPLE: &str = r#"
workspace = "~/place"
tool_groups = ["shell", "scripts", "wakes"]
[bash]
shell = "bash"
max_wait_sec = 30
max_tasks = 1000
output_max = "256M"
[bash.unit]
restart = "no"
[environment]
inherit = "all"
exclude = ["*KEY*", "*SECRET*", "*TOKEN*", "*PASSWORD*"]
set = { CI = "1" }
[limits]
script_calls = 50
script_depth = 4
identical_calls = 3
[approval]
mode = "normal"
timeout_sec = 900
hold_sec = 50
rate_unlabeled = true
rater = ["guard"]
keep_visible = []
[tool.shell]
mode = "allowlist"
allowlist = ["git status", "cargo *"]
default_timeout_ms = 30000
max_timeout_ms = 600000
[tool."github__*"]
mode = "ask"
[sandbox]
filesystem = "open"
writable = ["~/.cache"]
hidden = ["~/.ssh"]
network = true
[mcp.github]
command = ["guard", "stdio"]
environment = { A = "b" }
credentials = { GITHUB_TOKEN = "github-token" }
load = "start"
allowed_tools = ["*"]
unit = { restart = "on-failure", restart_sec = 1, restart_max_delay_sec = 16, start_limit_burst = 5 }
[mcp.remote]
url = "https://example.org/mcp"
[[hook]]
event = "pre_call"
tools = ["*"]
command = ["guard"]
timeout_sec = 5
on_error = "block"
[turn]
command = ["guard", "-p"]
[control]
listen = "127.0.0.1:7717"
token_file = "~/control.token"
admins = ["root"]
[mcp_http]
listen = "127.0.0.1:7718"
token_file = "~/mcp.token"
"#;

#[test]
fn the_example_of_the_design_is_right_and_what_has_no_effect_is_said() {
    let desk = Desk::new();
    desk.write_mode("control.token", format!("{ONE}\n"), 0o600);
    desk.write_mode("mcp.token", format!("{TWO}\n"), 0o640);
    let loaded = desk.load(EXAMPLE).unwrap();
    assert_eq!(loaded.workspace, desk.path("place"));
    assert_eq!(loaded.shell, desk.path("bin/bash"));
    assert_eq!(loaded.admins, [0]);
    assert_eq!(loaded.tokens.control.unwrap().reveal(), ONE);
    assert_eq!(loaded.config.bash.output_max, ByteSize(256 << 20));
    let warnings = loaded.warnings.to_string();
    for key in ["limits.script_depth", "approval.keep_visible"] {
        assert!(
            warnings.contains(&format!("warning: `{key}`")),
            "{key}: {warnings}"
        );
    }
    for key in ["approval.rater", "approval.rate_unlabeled", "hook"] {
        assert!(!warnings.contains(&format!("`{key}`")), "{warnings}");
    }
}

#[test]
fn the_example_of_the_readme_is_right_and_has_an_effect() {
    let readme = include_str!("../../../../../README.md");
    let (_, example) = readme.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let mut desk = Desk::new();
    // Its token and client are of another machine.
    desk.host.offline = true;
    let workspace = desk.path("place").display().to_string();
    let loaded = desk
        .load(&example.replace("/srv/coder", &workspace))
        .unwrap();
    assert_eq!(loaded.warnings.to_string(), "");
    assert_eq!(loaded.config.bash.max_tasks, 50);
}

/// Parts that a broken file is made of: the example with pieces cut out, doubled and replaced.
fn broken() -> impl Strategy<Value = String> {
    let piece = (
        0..EXAMPLE.len(),
        0_usize..40,
        "[\\[\\]{}=\"'.\\n a-z0-9\u{202e}é-]{0,6}",
    );
    proptest::collection::vec(piece, 1..6).prop_map(|pieces| {
        let mut text = EXAMPLE.to_owned();
        for (start, length, new) in pieces {
            let start = text.floor_char_boundary(start);
            let end = text.floor_char_boundary(start + length).max(start);
            text.replace_range(start..end, &new);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_broken_file_gives_places_within_it_and_never_a_panic(text in broken()) {
        let desk = Desk::new();
        let problems = match desk.load(&text) {
            Ok(loaded) => loaded.warnings,
            Err(problems) => problems,
        };
        let lines = text.lines().count() + 1;
        for one in &problems {
            prop_assert!(!one.render(true).is_empty());
            if let Some(span) = &one.span {
                prop_assert!(span.position().0 <= lines);
            }
        }
    }
}

#[test]
fn without_a_file_the_defaults_hold_and_the_current_directory_is_the_workspace() {
    let desk = Desk::new();
    let mut places = desk.places();
    places.config_required = false;
    let loaded = super::Config::load_on(&places, &desk.host).unwrap();
    assert_eq!(loaded.workspace, desk.path("place"));
    assert_eq!(loaded.config, super::Config::default());
    assert!(loaded.files.is_empty() && loaded.warnings.is_empty());
    places.mode = Mode::System;
    let error = super::Config::load_on(&places, &desk.host).unwrap_err();
    assert!(
        error.to_string().contains("a.toml, with a workspace"),
        "{error}"
    );
}

#[test]
fn drop_ins_are_laid_over_the_file_in_order_key_by_key() {
    let desk = Desk::new();
    desk.write(
        "a.toml.d/20-b.toml",
        "[bash]\nmax_tasks = 7\n[tool.run]\nmode = \"off\"\n",
    );
    desk.write(
        "a.toml.d/10-a.toml",
        "tool_groups = [\"wakes\"]\n[bash]\nmax_tasks = 5\nmax_wait_sec = \"10s\"\n[[hook]]\nevent = \"post_call\"\ncommand = [\"guard\", \"2\"]\n",
    );
    desk.write("a.toml.d/.hidden.toml", "nope = 1");
    desk.write("a.toml.d/README", "nope");
    let loaded = desk
        .load("[bash]\nmax_tasks = 3\n[bash.unit]\nrestart = \"always\"\n[[hook]]\nevent = \"pre_call\"\ncommand = [\"guard\", \"1\"]\n")
        .unwrap();
    let config = &loaded.config;
    assert_eq!(config.bash.max_tasks, 7);
    assert_eq!(config.bash.max_wait_sec, TimeSpan::from_secs(10));
    assert_eq!(config.bash.unit.restart, Some(Restart::Always));
    assert_eq!(config.tool_groups, ["wakes"]);
    assert_eq!(config.tool["run"].mode, Some(ToolMode::Off));
    let second: Vec<&str> = config
        .hook
        .iter()
        .map(|hook| hook.command[1].as_str())
        .collect();
    assert_eq!(second, ["1", "2"]);
    assert_eq!(loaded.files.len(), 3);
}

#[test]
fn an_error_is_placed_in_the_file_that_it_came_from() {
    let desk = Desk::new();
    desk.write(
        "a.toml.d/10-a.toml",
        "\n\n[bash]\nmax_tasks = 0\nshell = 3\n",
    );
    assert_eq!(
        desk.complaints("[bash]\nmax_tasks = 3\nmax_wait = 4\n"),
        [
            "a.toml:3:1: there is no key \"max_wait\" in [bash]; did you mean `max_wait_sec`?",
            "a.toml.d/10-a.toml:4:13: bash.max_tasks: no task could run: the least is 1",
            "a.toml.d/10-a.toml:5:9: bash.shell: expected a string, found the number 3",
        ]
    );
}

#[test]
fn a_drop_in_that_is_a_link_to_null_is_empty() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("a.toml.d")).unwrap();
    std::os::unix::fs::symlink("/dev/null", desk.path("a.toml.d/10.toml")).unwrap();
    desk.load("").unwrap();
}

#[test]
fn a_file_that_is_no_text_is_refused_with_the_reason() {
    let desk = Desk::new();
    let load = || {
        super::Config::load_on(&desk.places(), &desk.host)
            .unwrap_err()
            .to_string()
    };
    assert!(load().contains("No such file"), "{}", load());
    desk.write_mode("a.toml", b"trace = true\n# \xff", 0o644);
    assert!(
        load().contains("a.toml:2:3: the file is not UTF-8"),
        "{}",
        load()
    );
    desk.write_mode("a.toml", vec![b'#'; 2 << 20], 0o644);
    assert!(load().contains("larger than 1048576 bytes"), "{}", load());
    desk.write_mode("a.toml", "workspace = \"/\0\"", 0o644);
    assert!(load().contains("a.toml:1:15: "), "{}", load());
    std::fs::remove_file(desk.path("a.toml")).unwrap();
    std::fs::create_dir(desk.path("a.toml")).unwrap();
    assert!(load().contains("it is not a file"), "{}", load());
}

#[test]
fn a_reload_knows_what_changed() {
    let desk = Desk::new();
    let old = desk.load("").unwrap();
    assert!(Changes::between(&old, &desk.load("[bash]\nmax_tasks = 1000\n").unwrap()).is_empty());
    let new = desk
        .load("spawner = \"systemd\"\nworkspace = \"~\"\n[bash.unit]\nrestart = \"no\"\n[control]\nadmins = [\"root\"]\n")
        .unwrap();
    let changes = Changes::between(&old, &new);
    assert_eq!(
        changes.iter().collect::<Vec<_>>(),
        [Part::Workspace, Part::Spawner, Part::BashUnit, Part::Admins]
    );
    assert_eq!(
        changes.needing_restart().collect::<Vec<_>>(),
        [Part::Spawner]
    );
    assert_eq!(
        changes.to_string(),
        "workspace, spawner, bash.unit, control.admins"
    );
}

#[test]
fn a_new_token_in_the_same_file_is_a_change() {
    let desk = Desk::new();
    let text = "[mcp_http]\nlisten = \"127.0.0.1:1\"\ntoken_file = \"~/token\"\n";
    desk.write_mode("token", ONE, 0o600);
    let old = desk.load(text).unwrap();
    desk.write_mode("token", TWO, 0o600);
    let changes = Changes::between(&old, &desk.load(text).unwrap());
    assert_eq!(changes.to_string(), "mcp_http");
    assert!(!format!("{old:?}").contains(ONE), "a token is never shown");
}

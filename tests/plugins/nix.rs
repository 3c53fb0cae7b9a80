//! The shipped group `nix`, with a real one and a store of the test's own.

use std::path::Path;

use harness_tests::{binaries, clients, command, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{LIMIT, MODES};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if clients::python_missing().or_else(nix_missing);
        expressions_are_evaluated_and_what_is_wrong_with_them_is_told,
        an_evaluation_builds_nothing_unless_it_may,
        a_flake_is_searched_looked_at_and_built,
    ]
}

fn nix_missing() -> Option<String> {
    let mut nix = command::command("nix");
    nix.arg("--version");
    let there = nix.output().is_ok_and(|output| output.status.success());
    (!there).then(|| "nix is not installed: run tests/tools/install.sh as root".to_owned())
}

/// A derivation that the shell alone builds.
const HELLO: &str = r#"derivation {
  name = "hello-1.0"; pname = "hello"; version = "1.0"; system = builtins.currentSystem or "x86_64-linux";
  builder = "/bin/sh"; args = ["-c" "echo built >&2; echo hello >$out"];
}"#;

fn flake(directory: &Path) {
    let system = format!("{}-linux", std::env::consts::ARCH);
    let hello = HELLO.replace(
        "builtins.currentSystem or \"x86_64-linux\"",
        &format!("{system:?}"),
    );
    let text = format!(
        "{{ description = \"a flake for a test\"; outputs = {{ self }}: {{\n  packages.{system}.hello = {hello} // {{ meta.description = \"says hello\"; }};\n}}; }}\n"
    );
    std::fs::create_dir(directory.join("flake")).unwrap();
    std::fs::write(directory.join("flake/flake.nix"), text).unwrap();
}

/// Calls, with everything of Nix in a directory.
fn run(mode: &str, directory: &Path, calls: &Value) -> Value {
    let options = json!({"sandbox": "false", "substitute": "false", "build-users-group": "", "use-registries": "false"});
    let settings = json!({"options": options}).to_string();
    let mut client = clients::python("sdk_plugin.py");
    client
        .arg(mode)
        .arg(calls.to_string())
        .arg(binaries::program("harness-plugin-host"))
        .args(["--settings", &settings])
        .arg(binaries::library("harness_nix"))
        .env("HOME", directory)
        .env_remove("XDG_CACHE_HOME")
        .env_remove("NIX_REMOTE")
        .env("NIX_STORE_DIR", directory.join("store"))
        .env("NIX_STATE_DIR", directory.join("state"))
        .env("NIX_LOG_DIR", directory.join("log"))
        .env("NIX_CONF_DIR", directory.join("conf"));
    command::run(client, b"", LIMIT).ok().json()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn expressions_are_evaluated_and_what_is_wrong_with_them_is_told() {
    for (mode, _) in MODES {
        let directory = tempfile::tempdir().unwrap();
        let calls = json!([
            ["eval", {"expression": "{ a = 1 + 1; b = [ \"ü\" null ]; }"}],
            ["eval", {"expression": "{ b = 1; a = 2; }", "apply": "builtins.attrNames"}],
            ["eval", {"expression": "1 +"}],
            ["eval", {"expression": "1", "installable": ".#a"}],
            ["eval", {"installable": "--version"}],
            ["eval", {"expression": "builtins.genList (x: x) 1000000"}],
        ]);
        let report = run(mode, directory.path(), &calls);
        for tool in ["eval", "search", "flake_metadata", "flake_show"] {
            assert_eq!(
                report["tools"][tool]["annotations"]["readOnlyHint"], true,
                "{tool}"
            );
        }
        let annotations = &report["tools"]["build"]["annotations"];
        assert_eq!(annotations["readOnlyHint"], false);
        assert_eq!(annotations["destructiveHint"], false);
        let results = report["results"].as_array().unwrap();
        let value = |place: usize| results[place]["structuredContent"]["value"].clone();
        assert_eq!(value(0), json!({"a": 2, "b": ["ü", null]}), "{report}");
        assert_eq!(value(1), json!(["a", "b"]), "{report}");
        for (place, part) in [
            (2, "syntax error"),
            (3, "either an expression or an installable"),
            (4, "is no installable"),
            (5, "more than 1048576 bytes"),
        ] {
            assert_eq!(results[place]["isError"], true, "{report}");
            assert!(text(&results[place]).contains(part), "{part}: {report}");
        }
    }
}

fn an_evaluation_builds_nothing_unless_it_may() {
    let directory = tempfile::tempdir().unwrap();
    let read = format!("builtins.readFile ({HELLO})");
    let calls = json!([
        ["eval", {"expression": read, "impure": true}],
        ["eval", {"expression": read, "impure": true, "allow_building": true}],
    ]);
    let report = run("legacy", directory.path(), &calls);
    let results = report["results"].as_array().unwrap();
    assert_eq!(results[0]["isError"], true, "{report}");
    assert!(
        text(&results[0]).contains("allow-import-from-derivation"),
        "{report}"
    );
    assert_eq!(
        results[1]["structuredContent"]["value"], "hello\n",
        "{report}"
    );
}

fn a_flake_is_searched_looked_at_and_built() {
    for (mode, _) in MODES {
        let directory = tempfile::tempdir().unwrap();
        flake(directory.path());
        let flake = format!("path:{}", directory.path().join("flake").display());
        let calls = json!([
            ["search", {"flake": flake, "words": ["hel+o", "says"]}],
            ["search", {"flake": flake, "words": ["nothing of the kind"]}],
            ["flake_metadata", {"flake": flake}],
            ["flake_show", {"flake": flake}],
            ["build", {"installable": format!("{flake}#hello")}],
            ["build", {"installable": format!("{flake}#helo")}],
        ]);
        let report = run(mode, directory.path(), &calls);
        let results = report["results"].as_array().unwrap();
        let found = &results[0]["structuredContent"]["packages"][0];
        assert_eq!(found["name"], "hello", "{report}");
        assert_eq!(found["description"], "says hello", "{report}");
        assert_eq!(results[1]["structuredContent"]["found"], 0, "{report}");
        let metadata = &results[2]["structuredContent"]["flake"];
        assert_eq!(metadata["description"], "a flake for a test", "{report}");
        assert!(text(&results[3]).contains("\"hello-1.0\""), "{report}");
        let built = &results[4]["structuredContent"];
        let path = built["built"][0]["outputs"]["out"].as_str().unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "hello\n");
        assert!(built["log"].as_str().unwrap().contains("built"), "{report}");
        assert!(
            text(&results[5]).contains("does not provide attribute"),
            "{report}"
        );
        let files = directory.path().join("flake").read_dir().unwrap();
        assert_eq!(files.count(), 1, "a lock file or a link was left");
    }
}

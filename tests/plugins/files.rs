//! The shipped group `files` in its host.

use std::ffi::OsStr;

use harness_tests::{binaries, clients, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{MODES, python_with};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if clients::python_missing();
        files_are_written_searched_edited_and_read,
        a_disk_that_is_full_leaves_a_file_as_it_was,
    ]
}

/// The host on the group, started by a shell that limits it first.
fn run(mode: &str, limits: &str, root: &std::path::Path, calls: &Value) -> Value {
    let script = format!("{limits} exec \"$0\" --settings \"$1\" \"$2\"");
    let settings = json!({"root": root}).to_string();
    let host = binaries::program("harness-plugin-host");
    let library = binaries::library("harness_files");
    let words = [
        OsStr::new("sh"),
        OsStr::new("-c"),
        OsStr::new(&script),
        host.as_os_str(),
        OsStr::new(&settings),
        library.as_os_str(),
    ];
    python_with(mode, &words, calls)
}

fn files_are_written_searched_edited_and_read() {
    for (mode, version) in MODES {
        let directory = tempfile::tempdir().unwrap();
        let report = run(
            mode,
            "",
            directory.path(),
            &json!([
                ["write", {"path": "src/a.rs", "content": "fn main() {}\n"}],
                ["search", {"pattern": "main"}],
                ["edit", {"path": "src/a.rs", "old_string": "{}", "new_string": "{ run() }"}],
                ["read", {"path": "src/a.rs"}],
                ["list", {"glob": "**/*.rs"}],
                ["read", {"path": "../a"}],
            ]),
        );
        assert_eq!(report["version"], version, "{report}");
        let hint = |tool: &str, hint: &str| report["tools"][tool]["annotations"][hint].clone();
        for tool in ["read", "list", "search"] {
            assert_eq!(hint(tool, "readOnlyHint"), true, "{tool}");
        }
        for tool in ["write", "edit"] {
            assert_eq!(hint(tool, "readOnlyHint"), false, "{tool}");
            assert_eq!(hint(tool, "destructiveHint"), true, "{tool}");
        }
        let results: Vec<&Value> = report["results"].as_array().unwrap().iter().collect();
        assert_eq!(results[0]["structuredContent"]["created"], true);
        assert_eq!(results[1]["structuredContent"]["matches"][0]["line"], 1);
        assert_eq!(results[2]["structuredContent"]["lines"], json!([1]));
        assert_eq!(results[3]["content"][0]["text"], "fn main() { run() }\n");
        assert_eq!(results[4]["content"][0]["text"], "src/a.rs");
        assert_eq!(results[5]["isError"], true, "{report}");
    }
}

fn a_disk_that_is_full_leaves_a_file_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("f");
    std::fs::write(&file, "old").unwrap();
    // Past the limit write(2) fails in the middle of the file, as on a full disk.
    let limits = "trap '' XFSZ; ulimit -f 2;";
    let calls = json!([["write", {"path": "f", "content": "x".repeat(5000)}]]);
    let report = run("legacy", limits, directory.path(), &calls);
    let text = report["results"][0]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("File too large"), "{report}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(directory.path().read_dir().unwrap().count(), 1);
}

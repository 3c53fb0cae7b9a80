//! Plugins in their host, with a client that nobody here wrote.

mod check;
mod files;
mod nix;
mod systemd;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::Duration,
};

use harness_tests::{binaries, clients, command, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

/// A client of its own runtime takes its time to start.
const LIMIT: Duration = Duration::from_mins(2);

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if clients::python_missing();
        the_example_in_rust_is_short_and_counts_words,
        the_example_in_c_is_built_by_its_makefile_and_says_how_full_a_disk_is,
    ];
    trials.extend(check::trials());
    trials.extend(files::trials());
    trials.extend(nix::trials());
    trials.extend(systemd::trials());
    trials
}

/// What the Python SDK sees of a plugin: its tools, and the results of calls.
fn python(mode: &str, library: &Path, calls: &Value) -> Value {
    let host = binaries::program("harness-plugin-host");
    let words = [host.as_os_str(), library.as_os_str()];
    python_with(mode, &words, calls)
}

/// The same with any command that serves MCP.
fn python_with(mode: &str, words: &[&OsStr], calls: &Value) -> Value {
    let mut client = clients::python("sdk_plugin.py");
    client.arg(mode).arg(calls.to_string()).args(words);
    command::run(client, b"", LIMIT).ok().json()
}

/// Both lifecycles, with the protocol version that each comes to.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

fn the_example_in_rust_is_short_and_counts_words() {
    let source = binaries::source().join("examples/plugins/rust-word-count/src/lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    assert!(text.lines().count() < 40, "{} lines", text.lines().count());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.txt");
    std::fs::write(&file, "one two\nthrée\n").unwrap();
    let calls = json!([
        ["count", {"path": file}],
        ["count", {"path": directory.path().join("none")}],
        ["count", {"paht": "x"}],
    ]);
    for (mode, version) in MODES {
        let report = python(mode, &binaries::library("word_count"), &calls);
        assert_eq!(report["version"], version, "{report}");
        assert_eq!(
            report["tools"]["count"]["annotations"]["readOnlyHint"],
            true
        );
        let [counted, absent, wrong] = report["results"].as_array().unwrap().as_slice() else {
            panic!("{report}");
        };
        let expected = json!({"lines": 2, "words": 3, "characters": 14});
        assert_eq!(counted["structuredContent"], expected, "{report}");
        for (result, part) in [(absent, "No such file"), (wrong, "'paht' was unexpected")] {
            assert_eq!(result["isError"], true, "{result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(part), "{text}");
        }
    }
}

fn the_example_in_c_is_built_by_its_makefile_and_says_how_full_a_disk_is() {
    let directory = tempfile::tempdir().unwrap();
    let library = built(directory.path());
    let calls = json!([["disk_usage", {"path": "/"}], ["disk_usage", {"path": "/no such place"}]]);
    for (mode, version) in MODES {
        let report = python(mode, &library, &calls);
        assert_eq!(report["version"], version, "{report}");
        let usage = &report["results"][0]["structuredContent"];
        let (total, available) = (&usage["total_bytes"], &usage["available_bytes"]);
        assert!(total.as_u64() >= available.as_u64(), "{report}");
        assert!(total.as_u64() > Some(0), "{report}");
        assert_eq!(report["results"][1]["isError"], true, "{report}");
    }
}

/// The example in C, made in a directory of its own.
fn built(directory: &Path) -> PathBuf {
    let example = binaries::source().join("examples/plugins/c-disk-usage");
    for name in ["Makefile", "disk_usage.c"] {
        std::fs::copy(example.join(name), directory.join(name)).unwrap();
    }
    let mut make = command::command("make");
    let include = binaries::source().join("plugins/abi/include");
    make.arg("--silent")
        .arg("--directory")
        .arg(directory)
        .arg(format!("INCLUDE={}", include.display()))
        .arg("CFLAGS=-O2 -Wall -Wextra -Werror")
        // A jobserver of a make around the tests is none of its business.
        .env_remove("MAKEFLAGS");
    let output = command::run(make, b"", PATIENCE).ok();
    assert_eq!(output.stderr, "");
    directory.join("libdisk_usage.so")
}

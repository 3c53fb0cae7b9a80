//! `harnessd --check` on configurations with plugins.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use harness_tests::{
    binaries,
    command::{self, Output},
    harness::PATIENCE,
    trials,
};
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_setting_that_a_shipped_plugin_does_not_have_is_refused_with_its_place,
        a_plugin_that_is_none_or_hangs_or_crashes_is_refused_in_time,
    ]
}

/// What the check says of a plugin.
fn check(directory: &Path, library: &Path, settings: &str) -> Output {
    let config = directory.join("agent.toml");
    let library = library.display();
    let text =
        format!("[plugin.files]\nlibrary = \"{library}\"\n[plugin.files.settings]\n{settings}\n");
    std::fs::write(&config, text).unwrap();
    let mut check = command::command(binaries::program("harnessd"));
    check
        .arg("--check")
        .arg("--user")
        .arg("--config")
        .arg(config);
    check.current_dir(directory);
    command::run(check, b"", PATIENCE)
}

fn a_setting_that_a_shipped_plugin_does_not_have_is_refused_with_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let library = binaries::library("harness_files");
    check(directory.path(), &library, "root = \"/srv\"").ok();
    for (settings, complaint) in [
        (
            "rot = \"/srv\"",
            "agent.toml:4:1: plugin.files.settings.rot: the plugin has no such setting; did you mean `root`?",
        ),
        (
            "root = 5",
            "agent.toml:4:8: plugin.files.settings.root: 5 is not of types",
        ),
        (
            "root = \"srv\"",
            "agent.toml:4:8: plugin.files.settings.root: \"srv\" does not match",
        ),
    ] {
        let output = check(directory.path(), &library, settings);
        assert_eq!(output.code, 1, "{output:?}");
        assert!(output.stderr.contains(complaint), "{output:?}");
    }
}

fn a_plugin_that_is_none_or_hangs_or_crashes_is_refused_in_time() {
    let directory = tempfile::tempdir().unwrap();
    for (sabotage, reason) in [
        (
            "-DSABOTEUR_VERSION=9",
            "was built for version 9 of the interface",
        ),
        (
            "-DSABOTAGE_ALWAYS=\"load-hang\"",
            "has not finished loading within 5s",
        ),
        (
            "-DSABOTAGE_ALWAYS=\"load-segfault\"",
            "was killed by signal 11",
        ),
        (
            "-DSABOTAGE_ALWAYS=\"describe-garbage\"",
            "description is not right",
        ),
    ] {
        let library = saboteur(directory.path(), sabotage);
        let before = Instant::now();
        let output = check(directory.path(), &library, "");
        assert!(before.elapsed() < Duration::from_secs(30), "{sabotage}");
        assert_eq!(output.code, 1, "{output:?}");
        let place = "agent.toml:2:11: plugin.files.library: the plugin cannot be used: ";
        assert!(output.stderr.contains(place), "{output:?}");
        assert!(output.stderr.contains(reason), "{output:?}");
    }
}

/// The plugin that misbehaves, built to do so in one way.
fn saboteur(directory: &Path, flag: &str) -> PathBuf {
    let library = directory.join("saboteur.so");
    let mut compiler = command::command("cc");
    compiler
        .args(["-std=gnu11", "-fPIC", "-shared", flag, "-I"])
        .arg(binaries::source().join("plugins/abi/include"))
        .arg("-o")
        .arg(&library)
        .arg(binaries::source().join("tests/fixtures/saboteur.c"));
    command::run(compiler, b"", PATIENCE).ok();
    library
}

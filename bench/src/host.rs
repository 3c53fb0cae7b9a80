//! A harness to measure, built in the release profile, with its directories beside the build.

use std::path::PathBuf;

use harness_tests::{binaries, command, harness::Harness};

use crate::session::Session;

/// Where everything that is measured is written: on a real disk, since `/tmp` may be memory.
fn directory() -> PathBuf {
    let directory = binaries::directory().join("../bench");
    std::fs::create_dir_all(&directory).unwrap();
    directory.canonicalize().unwrap()
}

/// A harness that runs. What is measured is the same call over and over.
pub(crate) fn harness(config: &str) -> Harness {
    let config = format!("{config}\n[limits]\nidentical_calls = 0\n");
    let mut harness = Harness::prepared_in(&directory(), &config);
    harness.start_daemon();
    harness
}

/// A directory that goes away with its value.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("b")
        .tempdir_in(directory())
        .unwrap()
}

/// A session over the bridge, as MCP clients start it.
pub(crate) fn session(harness: &Harness) -> Session {
    let mut bridge = command::command(binaries::program("harnessctl"));
    bridge
        .arg("--runtime-dir")
        .arg(harness.runtime())
        .args(["mcp", "--group", "bash"]);
    Session::open(bridge).expect("the bridge serves")
}

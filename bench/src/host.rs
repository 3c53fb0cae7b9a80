//! A harness to measure, built in the release profile, with its directories beside the build.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use harness_tests::{binaries, command, harness::Harness};
use tempfile::TempDir;

use crate::session::Session;

/// The directory of this run, once it has begun.
static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();

/// Makes the directory for everything that is measured: beside the build, since `/tmp` may be memory.
///
/// It goes away with its value, at the end and all at once: an ext4 without a journal makes new files
/// slowly for minutes after many were removed.
pub(crate) fn begin() -> TempDir {
    let parent = binaries::directory().join("../bench");
    std::fs::create_dir_all(&parent).unwrap();
    let parent = parent.canonicalize().unwrap();
    let directory = tempfile::Builder::new()
        .prefix("b")
        .tempdir_in(parent)
        .unwrap();
    DIRECTORY
        .set(directory.path().to_owned())
        .expect("a run begins once");
    directory
}

fn directory() -> &'static Path {
    DIRECTORY.get().expect("the run has begun")
}

/// A harness that runs. What is measured is the same call over and over.
pub(crate) fn harness(config: &str) -> Harness {
    let config = format!("{config}\n[limits]\nidentical_calls = 0\n");
    let mut harness = Harness::prepared_in(directory(), &config);
    harness.leave_directory();
    harness.start_daemon();
    harness
}

/// A directory that goes away with its value.
pub(crate) fn scratch() -> TempDir {
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

//! pueue: `pueue add`, then `pueue wait`.

use std::{
    fs,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use harness_tests::{command::command, event};

use super::{Peer, installed};
use crate::error::PeerError;

struct Pueue {
    program: PathBuf,
    config: PathBuf,
    daemon: Child,
}

pub(super) fn start(scratch: &Path) -> Result<Box<dyn Peer>, PeerError> {
    let program = installed("pueue", "bin/pueue")?;
    let config = scratch.join("pueue.yml");
    let directory = scratch.display();
    fs::write(
        &config,
        format!(
            "shared:\n  pueue_directory: {directory}\n  runtime_directory: {directory}\n  use_unix_socket: true\n  unix_socket_path: {directory}/socket\n"
        ),
    )?;
    let daemon = command(installed("pueue", "bin/pueued")?)
        .arg("--config")
        .arg(&config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pueue = Pueue {
        program,
        config,
        daemon,
    };
    // The socket is bound before it listens.
    let socket = scratch.join("socket");
    event::file(
        &scratch.join("pueue.pid"),
        harness_tests::harness::PATIENCE,
        |_| UnixStream::connect(&socket).is_ok(),
    );
    Ok(Box::new(pueue))
}

impl Pueue {
    fn command(&self, words: &[&str]) -> Command {
        let mut pueue = command(&self.program);
        pueue
            .arg("--config")
            .arg(&self.config)
            .args(words)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        pueue
    }
}

impl Peer for Pueue {
    fn run(&mut self) -> Result<(), PeerError> {
        let added = self
            .command(&["add", "--print-task-id", "--", "true"])
            .output()?;
        let id = String::from_utf8_lossy(&added.stdout).trim().to_owned();
        let waited = self
            .command(&["wait", "--quiet", &id])
            .stdout(Stdio::null())
            .status()?;
        if added.status.success() && waited.success() {
            Ok(())
        } else {
            Err(PeerError::Answer {
                answer: format!("add: {}, wait: {waited}", added.status),
            })
        }
    }
}

impl Drop for Pueue {
    fn drop(&mut self) {
        self.command(&["shutdown"])
            .stdout(Stdio::null())
            .status()
            .ok();
        self.daemon.kill().ok();
        self.daemon.wait().ok();
    }
}

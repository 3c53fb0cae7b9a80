//! task-spooler: `tsp CMD`, then `tsp -w` for the exit status.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use harness_tests::command::command;

use super::{Peer, installed};
use crate::error::PeerError;

struct Spooler {
    program: PathBuf,
    directory: PathBuf,
}

pub(super) fn start(scratch: &Path) -> Result<Box<dyn Peer>, PeerError> {
    Ok(Box::new(Spooler {
        program: installed("task-spooler", "tsp")?,
        directory: scratch.to_owned(),
    }))
}

impl Spooler {
    /// With a queue of its own.
    fn command(&self, words: &[&str]) -> Command {
        let mut tsp = command(&self.program);
        tsp.args(words)
            .env("TS_SOCKET", self.directory.join("socket"))
            .env("TMPDIR", &self.directory);
        tsp.stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        tsp
    }
}

impl Peer for Spooler {
    fn run(&mut self) -> Result<(), PeerError> {
        for words in [&["bash", "-c", "true"][..], &["-w"]] {
            let status = self.command(words).status()?;
            if !status.success() {
                return Err(PeerError::Answer {
                    answer: format!("{}: {status}", words.join(" ")),
                });
            }
        }
        Ok(())
    }
}

impl Drop for Spooler {
    fn drop(&mut self) {
        // Ends its server.
        self.command(&["-K"]).status().ok();
    }
}

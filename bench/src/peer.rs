//! Other programs that run a command to its end for an agent or a person.

mod pueue;
mod servers;
mod spooler;
mod systemd;

use std::{
    fs,
    path::{Path, PathBuf},
};

use harness_tests::binaries;

use crate::error::PeerError;

/// A program that is ready.
pub(crate) trait Peer {
    /// Runs `true` in its shell, and returns once it says that it has ended.
    fn run(&mut self) -> Result<(), PeerError>;
}

/// A program to compare with.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// How many times faster than it the harness has to be.
    pub(crate) least: f64,
    /// What it runs a command with: the harness is set to the same, so that not two shells are compared.
    pub(crate) shell: &'static str,
    /// Each run starts a command of the peer, so that `harnessctl run` is compared with it too.
    pub(crate) by_command: bool,
    /// Starts it, with a directory for what it writes.
    pub(crate) start: fn(&Path) -> Result<Box<dyn Peer>, PeerError>,
}

/// The first can run nothing in the background; all others can.
pub(crate) const KNOWN: [Known; 7] = [
    Known {
        name: "mcp-server-commands",
        least: 1.0,
        shell: "sh",
        by_command: false,
        start: servers::commands,
    },
    Known {
        name: "mcp-background-job",
        least: 2.0,
        shell: "bash",
        by_command: false,
        start: servers::background_job,
    },
    Known {
        name: "mcp-yieldshell",
        least: 2.0,
        shell: "sh",
        by_command: false,
        start: servers::yieldshell,
    },
    Known {
        name: "desktop-commander",
        least: 2.0,
        shell: "bash",
        by_command: false,
        start: servers::desktop_commander,
    },
    Known {
        name: "systemd (StartTransientUnit)",
        least: 2.0,
        shell: "bash",
        by_command: false,
        start: systemd::start,
    },
    Known {
        name: "task-spooler",
        least: 2.0,
        shell: "bash",
        by_command: true,
        start: spooler::start,
    },
    Known {
        name: "pueue",
        least: 2.0,
        shell: "sh",
        by_command: true,
        start: pueue::start,
    },
];

/// A file that `install.sh` has put in place, or its word why not.
fn installed(set: &str, file: &str) -> Result<PathBuf, PeerError> {
    let peers = std::env::var_os("HARNESS_BENCH_PEERS")
        .map_or_else(|| binaries::directory().join("../peers"), PathBuf::from);
    let path = peers.join(file);
    if path.exists() {
        return Ok(path.canonicalize()?);
    }
    let noted = fs::read_to_string(peers.join(format!("{set}.missing")));
    let reason = noted.map_or_else(
        |_| format!("run bench/peers/install.sh ({file} is not there)"),
        |text| text.trim().to_owned(),
    );
    Err(PeerError::NotInstalled { reason })
}

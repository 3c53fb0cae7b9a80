//! Why there is no keeper.

use std::{io, path::PathBuf};

use harness_keeper::protocol::Failure;

/// Why the keeper cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// It is not beside the daemon, in libexec or in `PATH`.
    #[error(
        "the program harness-keeper is neither beside harnessd, nor in its libexec, nor in PATH: install it, or run it as a service"
    )]
    NoProgram,
    /// It ended at once.
    #[error("{program} cannot start: {message}")]
    Start {
        /// What was run.
        program: PathBuf,
        /// What it said, or the system.
        message: String,
    },
    /// The socket cannot be used.
    #[error("the keeper cannot be reached at {socket}")]
    Socket {
        /// Its path.
        socket: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// It closed the connection before it answered: it refuses this process, or is ending.
    #[error(
        "the keeper at {socket} closes the connection: its log says why (it answers root, its own user and --daemon-uid, and never one of its own tasks)"
    )]
    Refused {
        /// The socket's path.
        socket: PathBuf,
    },
    /// It does not want to talk.
    #[error("the keeper refuses the connection")]
    Failed(#[source] Failure),
    /// What it says cannot be understood.
    #[error(
        "the keeper's answer cannot be understood: it is of another version than the daemon, restart it when no task runs"
    )]
    Protocol,
}

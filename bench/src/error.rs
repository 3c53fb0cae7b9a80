//! Why a peer cannot be measured.

use std::{io, path::PathBuf};

/// A peer is not here, or does not do what is asked of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    /// Its program is not there.
    #[error("not installed: {reason}")]
    NotInstalled {
        /// What `install.sh` noted, or which file is missing.
        reason: String,
    },
    /// It cannot be started.
    #[error("{}: {source}", program.display())]
    Start {
        /// Its program.
        program: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It closed its output, or something else than a message came out of it.
    #[error("it broke off: {source}")]
    Stream {
        /// What reading or writing said.
        #[from]
        source: io::Error,
    },
    /// It answered, but not with a finished task.
    #[error("it answered {answer}")]
    Answer {
        /// The answer.
        answer: String,
    },
}

//! Why a file is not read or written.

use std::io;

use rustix::io::Errno;

/// Why a file is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path, or a link on it, leads out of the workspace.
    #[error("{path} is outside of the workspace: give a path within it")]
    Outside {
        /// As it was given.
        path: String,
    },
    /// There is nothing, or not the right thing.
    #[error("{path}: {source}")]
    System {
        /// As it was given.
        path: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// A directory, a device, a socket.
    #[error("{path} is {kind}, not a regular file")]
    NotRegular {
        /// As it was given.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// Writing would put a file in the place of a link.
    #[error("{path} is a symbolic link to {target}: name the file itself")]
    Link {
        /// As it was given.
        path: String,
        /// Where it leads.
        target: String,
    },
    /// No text.
    #[error("{path} is binary ({size} bytes): use a program that knows its format")]
    Binary {
        /// As it was given.
        path: String,
        /// Bytes.
        size: u64,
    },
    /// Too large for what is done with it.
    #[error("{path} has {size} bytes, and {limit} is the most for this: use a program")]
    TooLarge {
        /// As it was given.
        path: String,
        /// Bytes.
        size: u64,
        /// Bytes.
        limit: u64,
    },
    /// The text to be replaced.
    #[error("{path}: {fault}")]
    Edit {
        /// As it was given.
        path: String,
        /// What is wrong with it there, and what to do.
        fault: String,
    },
    /// Someone else has written it in between.
    #[error("{path} has changed meanwhile: read it again")]
    Changed {
        /// As it was given.
        path: String,
    },
    /// A regular expression or a glob.
    #[error("the {what} is not right: {source}")]
    Pattern {
        /// Which it is.
        what: &'static str,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The setting names no directory.
    #[error("the workspace {path} cannot be opened: {source}")]
    Workspace {
        /// As it was set.
        path: String,
        /// What the kernel says.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn system(path: &str, error: impl Into<io::Error>) -> Self {
        let source: io::Error = error.into();
        // RESOLVE_BENEATH: "EXDEV: an escape from the root during path resolution was detected".
        if source.raw_os_error() == Some(Errno::XDEV.raw_os_error()) {
            return Self::Outside { path: path.into() };
        }
        Self::System {
            path: path.into(),
            source,
        }
    }
}

/// What this crate's functions give.
pub(crate) type Result<T> = std::result::Result<T, Error>;

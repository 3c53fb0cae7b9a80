//! Why a harness cannot have its places.

use std::{io, path::PathBuf};

use super::places::SOCKET_PATH_MAX;

/// Why the places of a harness cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// The agent's name is not allowed.
    #[error(
        "{0:?} is not a name for an agent: use 1 to 32 characters of a-z, 0-9 and -, not starting with -"
    )]
    AgentName(String),
    /// There is no home directory to put files in.
    #[error(
        "neither ${variable} nor $HOME is an absolute path (uid {uid}): set one, or use --system or --state-dir and --config"
    )]
    NoHome {
        /// The variable that would have done.
        variable: &'static str,
        /// The user.
        uid: u32,
    },
    /// unix(7) has room for a short path only.
    #[error("the socket path {path} has {length} bytes, and the kernel allows {SOCKET_PATH_MAX}: choose a shorter --runtime-dir", path = path.display())]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// A directory cannot be made or looked at.
    #[error("cannot use the directory {path}", path = path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Somebody else could put files there.
    #[error("{path} must be a directory of yours with mode 0700: set $XDG_RUNTIME_DIR, use --runtime-dir, or remove it", path = path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
}

/// Why the state directory cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon has it.
    #[error(
        "another harnessd{pid} uses the state directory {directory}: stop it first, or choose another --agent or --state-dir",
        pid = pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(),
        directory = directory.display()
    )]
    Held {
        /// The state directory.
        directory: PathBuf,
        /// The other daemon.
        pid: Option<u32>,
    },
    /// The lock file cannot be opened, locked or written.
    #[error("cannot lock {path}", path = path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

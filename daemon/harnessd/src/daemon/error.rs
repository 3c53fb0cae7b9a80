//! What keeps the daemon from running.

use std::{io, path::PathBuf};

use crate::{
    catalogue::SchemaError,
    config::{Diagnostics, LockError, PlacesError},
    keeper::KeeperError,
    runs::AccessError,
    systemd::{ActivationError, BindError, ListenError},
};

/// Why the daemon ends. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Fatal {
    /// Its directories.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// Another daemon.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Its configuration; rendered with places and suggestions.
    #[error("{}", .0.render(false))]
    Config(Diagnostics),
    /// Its record.
    #[error(transparent)]
    Record(#[from] harness_record::Error),
    /// The owner of its processes.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// A Unix socket.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A socket passed by the service manager.
    #[error(transparent)]
    Activation(#[from] ActivationError),
    /// A TCP address.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A token that no client could send.
    #[error(transparent)]
    Token(#[from] harness_mcp::Error),
    /// What runs get in their environment.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A tool's schema, which is the program's own fault.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A directory that cannot be made.
    #[error("cannot make the directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A signal handler, or the like.
    #[error("the system refused to {what}: {source}")]
    System {
        /// What was asked of it.
        what: &'static str,
        /// What it said.
        source: io::Error,
    },
}

//! Why sockets and credentials cannot be had.

use std::{io, net::SocketAddr, path::PathBuf};

/// Why the sockets that the service manager passed cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ActivationError {
    /// A socket has a name that means nothing here.
    #[error(
        "the socket unit passes a socket named {0:?}: set FileDescriptorName= to mcp, tools or control"
    )]
    UnknownName(String),
    /// Two sockets have the same name.
    #[error("the socket unit passes two sockets named {0:?}: remove one")]
    Twice(String),
    /// More sockets than there are names for.
    #[error("the socket unit passes {0} sockets without names: expected mcp, tools and control")]
    TooMany(usize),
    /// It is no listening Unix stream socket.
    #[error("the socket {name:?} is not a Unix stream socket: use ListenStream= with a path")]
    WrongKind {
        /// Its name.
        name: String,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Why a socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody listens there.
    #[error("{path} is in use{pid}: stop that process, or choose another --runtime-dir", path = path.display(), pid = pid.map(|pid| format!(" by pid {pid}")).unwrap_or_default())]
    InUse {
        /// The path.
        path: PathBuf,
        /// The process, if the kernel tells it.
        pid: Option<i32>,
    },
    /// Something else than a socket is in the way.
    #[error("{path} is not a socket: move it away", path = path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {step} {path}", path = path.display())]
    Io {
        /// What was tried.
        step: &'static str,
        /// The path.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Why a credential cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The service manager passed none at all.
    #[error("there is no credential {0:?}: add LoadCredential={0}:PATH to the unit")]
    NoDirectory(String),
    /// The name could lead out of the directory.
    #[error("{0:?} is not the name of a credential")]
    Name(String),
    /// It is not there, or cannot be read.
    #[error("cannot read the credential {name:?}: add LoadCredential={name}:PATH to the unit")]
    Io {
        /// Its name.
        name: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// Larger than systemd allows (1 MiB), or not UTF-8.
    #[error("the credential {0:?} is not text of at most 1 MiB")]
    NotText(String),
}

/// Why there is no listening on a TCP address.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The unit does not allow the daemon to use TCP.
    #[error(
        "cannot listen on {address}: the unit allows no TCP; add RestrictAddressFamilies=AF_INET AF_INET6, PrivateNetwork=no and IPAddressAllow=localhost in a drop-in of it"
    )]
    FamilyNotAllowed {
        /// The address.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is in use, or not of this machine.
    #[error("cannot listen on {address}")]
    Io {
        /// The address.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
}

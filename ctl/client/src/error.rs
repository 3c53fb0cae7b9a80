//! What can go wrong between a client and its harness.

use std::{io, path::PathBuf};

use harness_model::{OverlongEvent, Refusal};

/// The result of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer, or no good one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No socket is there.
    #[error(
        "no harness is running at {}: start one with `harnessd --agent NAME` or `systemctl start harnessd@NAME`, or name another place with --agent, --machine or --runtime-dir",
        paths(.tried)
    )]
    NotRunning {
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// A socket is there and nobody listens: the daemon died or is just restarting.
    #[error("nobody listens at {}: the harness has stopped; start it again, which replaces the socket", .socket.display())]
    Stale {
        /// The socket.
        socket: PathBuf,
    },
    /// The socket belongs to others.
    #[error("no permission to open {}: ask for a place in [control] admins, or call as the harness's user", .socket.display())]
    PermissionDenied {
        /// The socket.
        socket: PathBuf,
    },
    /// Connecting failed in another way.
    #[error("cannot connect to {}", .socket.display())]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A directory in `/tmp` that another user could have made.
    #[error("{} belongs to another user or is writable by others: it is not trusted; name the right place with --runtime-dir", .path.display())]
    Untrusted {
        /// The directory.
        path: PathBuf,
    },
    /// The name could leave its directory.
    #[error(
        "{name:?} is not the name of an agent or a machine: expected letters, digits, and - _ . @ after the first character"
    )]
    InvalidAgent {
        /// As it was given.
        name: String,
    },
    /// The harness understood and said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The connection ended in the middle.
    #[error("the connection to the harness broke off")]
    Broken {
        /// Why.
        #[source]
        source: hyper::Error,
    },
    /// The answer is not one of a harness.
    #[error("{endpoint} answered {status} without saying why: is a harness listening there?")]
    Unexpected {
        /// Method and path.
        endpoint: String,
        /// The HTTP status.
        status: u16,
    },
    /// The answer has another shape.
    #[error("cannot read the answer of {endpoint}: harness and client may have different versions")]
    Decode {
        /// Method and path.
        endpoint: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// One event is larger than any event of a harness.
    #[error(transparent)]
    Overlong(#[from] OverlongEvent),
}

impl Error {
    /// Why connecting to `socket` failed.
    #[must_use]
    pub fn of_connecting(socket: PathBuf, source: io::Error) -> Self {
        let kind = source.kind();
        if kind == io::ErrorKind::NotFound {
            Self::NotRunning {
                tried: vec![socket],
            }
        } else if kind == io::ErrorKind::ConnectionRefused {
            Self::Stale { socket }
        } else if kind == io::ErrorKind::PermissionDenied {
            Self::PermissionDenied { socket }
        } else {
            Self::Connect { socket, source }
        }
    }

    /// No harness could be reached at all: nothing was asked and nothing happened.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::NotRunning { .. }
                | Self::Stale { .. }
                | Self::PermissionDenied { .. }
                | Self::Connect { .. }
                | Self::Untrusted { .. }
        )
    }

    /// A restart of the daemon looks like this from here: asking again can help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::NotRunning { .. } | Self::Stale { .. } | Self::Broken { .. } => true,
            Self::Refused(refusal) => refusal.retryable,
            Self::PermissionDenied { .. }
            | Self::Connect { .. }
            | Self::Untrusted { .. }
            | Self::InvalidAgent { .. }
            | Self::Unexpected { .. }
            | Self::Decode { .. }
            | Self::Overlong(_) => false,
        }
    }
}

fn paths(tried: &[PathBuf]) -> String {
    let paths: Vec<String> = tried
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(" or ")
}

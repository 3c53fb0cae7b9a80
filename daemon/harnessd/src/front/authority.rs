//! Who may speak on `control.sock`: root, the daemon's own user and `admins`, and never a process
//! that lives under the keeper, whatever its uid.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use harness_model::{ErrorCode, Refusal};
use nix::sys::socket::{getsockopt, sockopt};
use rustix::event::{PollFd, PollFlags, poll};

use super::lineage::{KeeperTree, lives_under};

/// Who is at the other end of a Unix connection, as the kernel noted it when it was made.
#[derive(Debug)]
pub struct PeerCredentials {
    /// Its pid in the daemon's pid namespace; 0 when it is not visible there.
    pub pid: u32,
    /// Its effective uid.
    pub uid: u32,
    /// Its pidfd, where the kernel gives one (6.5 and later): tells a reused pid from the peer.
    pub pidfd: Option<OwnedFd>,
}

impl PeerCredentials {
    /// Reads them from a connected Unix socket.
    ///
    /// # Errors
    /// The peer is already gone, or it is not a Unix socket.
    pub fn of(socket: &impl AsFd) -> io::Result<Self> {
        let credentials = getsockopt(socket, sockopt::PeerCredentials)?;
        let pidfd = match getsockopt(socket, sockopt::PeerPidfd) {
            Ok(pidfd) => Some(pidfd),
            Err(nix::errno::Errno::ENOPROTOOPT) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            pid: u32::try_from(credentials.pid()).unwrap_or(0),
            uid: credentials.uid(),
            pidfd,
        })
    }

    /// Whether the peer is known to have ended, so that its pid may name somebody else.
    pub(crate) fn has_ended(&self) -> bool {
        let Some(pidfd) = &self.pidfd else {
            return false;
        };
        let mut entries = [PollFd::new(pidfd, PollFlags::IN)];
        // A pidfd is readable once its process has ended (pidfd_open(2)).
        !matches!(
            poll(&mut entries, Some(&rustix::time::Timespec::default())),
            Ok(0)
        )
    }
}

/// Decides once per connection, when it is accepted.
pub trait Authority: Send + Sync + 'static {
    /// Whether this peer may speak.
    ///
    /// # Errors
    /// `denied`: every request of the connection is answered with it.
    fn may(&self, peer: &PeerCredentials) -> Result<(), Refusal>;
}

/// The authority of `control.sock`.
pub struct ControlAuthority<A, K> {
    own: u32,
    admins: A,
    keepers: K,
}

impl<A, K> ControlAuthority<A, K>
where
    A: Fn() -> Vec<u32> + Send + Sync + 'static,
    K: Fn() -> Vec<KeeperTree> + Send + Sync + 'static,
{
    /// `admins` are uids beside root and the daemon's own; `keepers` names every keeper that may
    /// have children now. Both are asked anew for each connection.
    #[must_use]
    pub fn new(admins: A, keepers: K) -> Self {
        Self {
            own: rustix::process::geteuid().as_raw(),
            admins,
            keepers,
        }
    }

    fn knows(&self, uid: u32) -> bool {
        uid == 0 || uid == self.own || (self.admins)().contains(&uid)
    }
}

fn denied(message: String) -> Refusal {
    Refusal::new(ErrorCode::Denied, message)
}

impl<A, K> Authority for ControlAuthority<A, K>
where
    A: Fn() -> Vec<u32> + Send + Sync + 'static,
    K: Fn() -> Vec<KeeperTree> + Send + Sync + 'static,
{
    fn may(&self, peer: &PeerCredentials) -> Result<(), Refusal> {
        if !self.knows(peer.uid) {
            return Err(denied(format!(
                "user {} may not control this harness: ask its owner to add the user to [control] admins",
                peer.uid
            )));
        }
        let keepers = (self.keepers)();
        if peer.pid == 0 {
            return from_outside(&keepers);
        }
        for keeper in keepers {
            match lives_under(peer.pid, &keeper) {
                Ok(false) => {}
                Ok(true) => {
                    return Err(denied(format!(
                        "process {} belongs to the agent: control is for the person; tools are on mcp.sock",
                        peer.pid
                    )));
                }
                Err(error) => {
                    return Err(denied(format!(
                        "cannot tell whether process {} belongs to the agent: {error}",
                        peer.pid
                    )));
                }
            }
        }
        if peer.has_ended() {
            return Err(denied(format!(
                "process {} ended before its connection was accepted",
                peer.pid
            )));
        }
        Ok(())
    }
}

/// A peer that is in no pid namespace of the daemon's: it speaks from the host into the daemon's container.
///
/// A keeper that is visible here has all its children at its level or below (`pid_namespaces(7)`: a process
/// never gets out to an ancestor's), where they are visible too. So this one is none of them.
fn from_outside(keepers: &[KeeperTree]) -> Result<(), Refusal> {
    if !keepers.is_empty() && keepers.iter().all(|keeper| keeper.pid != 0) {
        return Ok(());
    }
    Err(denied(
        "the caller's process is not visible here, and neither is the keeper: call from the pid namespace of the daemon".to_owned(),
    ))
}

#[cfg(test)]
#[path = "authority_tests.rs"]
mod tests;

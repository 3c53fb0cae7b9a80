//! Through whom a person may answer approvals: any client that is known to live outside the keeper.
//!
//! Elicitation asks the agent's client, not its model. What a task starts is a client of the agent's own making, and
//! would answer what it asked itself. So whatever lives under the keeper may not, and neither may what cannot be told
//! apart from it.

use harness_mcp::{Ends, Peer};
use tokio::sync::watch;

use super::{authority::PeerCredentials, lineage::lives_under, socket_holder::holders};
use crate::{front::lineage::KeeperTree, keeper::KeeperState};

/// The client at the other end of a connection to `mcp.sock`.
pub(crate) struct SocketPeer {
    pub(crate) credentials: PeerCredentials,
    pub(crate) keeper: watch::Receiver<KeeperState>,
}

impl Peer for SocketPeer {
    fn uid(&self) -> Option<u32> {
        Some(self.credentials.uid)
    }

    /// A pid is judged while its process is there: it may be another one's later.
    fn may_answer(&self) -> bool {
        self.credentials.pid != 0
            && is_outside(self.credentials.pid, &self.keeper)
            && !self.credentials.has_ended()
    }
}

/// The client at the other end of a connection to `[mcp_http]`: the processes that hold its socket.
pub(crate) struct TcpPeer {
    pub(crate) ends: Ends,
    pub(crate) keeper: watch::Receiver<KeeperState>,
}

impl Peer for TcpPeer {
    fn uid(&self) -> Option<u32> {
        None
    }

    /// One that holds no socket any more when it has been judged may have been replaced meanwhile.
    fn may_answer(&self) -> bool {
        let holders = holders(self.ends);
        !holders.is_empty()
            && holders
                .iter()
                .all(|holder| is_outside(holder.pid, &self.keeper) && holder.holds_still())
    }
}

/// Without a keeper nobody can tell.
fn is_outside(pid: u32, keeper: &watch::Receiver<KeeperState>) -> bool {
    let keeper = keeper.borrow().status.pid;
    keeper.is_some_and(|keeper| {
        let tree = KeeperTree {
            pid: keeper,
            cgroup: None,
        };
        match lives_under(pid, &tree) {
            Ok(under) => !under,
            Err(error) => {
                tracing::warn!(%error, pid, "cannot tell whether a client belongs to the agent");
                false
            }
        }
    })
}

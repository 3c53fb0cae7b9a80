//! Which run a process belongs to.

use harness_keeper::protocol::Location;
use harness_model::InvocationId;

use crate::{keeper::Keeper, process::Process};

/// A chain of parents longer than this is given up: the process is called a stranger.
const LONGEST_CHAIN: usize = 4096;

impl Keeper {
    /// The run whose tree the process is in; none for a stranger, and for one that has ended.
    ///
    /// Every process here descends from a child of the keeper, its own or one that came to it as an orphan, and no
    /// process can leave that line: the keeper is the reaper of all of them.
    pub(crate) fn locate(&mut self, pid: i32) -> Option<Location> {
        self.adopt_orphans(None);
        let invocation = self.invocation_above(pid)?;
        let unit = self.units.get(&invocation)?;
        Some(Location {
            unit: unit.id.clone(),
            invocation,
        })
    }

    fn invocation_above(&self, pid: i32) -> Option<InvocationId> {
        let mut process = Process::read(pid).filter(Process::lives)?;
        for _ in 0..LONGEST_CHAIN {
            if let Some(invocation) = self.children.get(&process.pid) {
                return Some(invocation.clone());
            }
            let parent = Process::read(process.parent)?;
            // A parent that is younger than its child is another process under a reused pid.
            if parent.start_time > process.start_time {
                return None;
            }
            process = parent;
        }
        None
    }
}

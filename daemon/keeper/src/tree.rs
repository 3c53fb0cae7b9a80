//! Which processes belong to a run, and signalling all of them.
//!
//! A cgroup answers that by itself. Without one the tree is what descends from the main process, which
//! is the reaper of its own orphans while it lives, and after that from the orphans that came to the
//! keeper. The same bookkeeping catches, in both cases, what has moved itself out of its cgroup.

use std::collections::{HashMap, HashSet};

use harness_model::{InvocationId, Signal};
use rustix::io::Errno;

use crate::{
    keeper::Keeper,
    process::{self, Process},
    signal,
    spawn::INVOCATION_VARIABLE,
    unit::Unit,
};

/// A tree that forks faster than it can be walked is given up until the next event.
const ROUNDS: usize = 64;

impl Keeper {
    /// Finds children of the keeper that it did not start: orphans of some run. `ended` is the run whose process has just ended.
    pub(crate) fn adopt_orphans(&mut self, ended: Option<&InvocationId>) {
        for pid in self.own_children.read() {
            if self.children.contains_key(&pid) {
                continue;
            }
            if let Some(invocation) = self.run_of(pid, ended) {
                if let Some(unit) = self.units.get_mut(&invocation) {
                    unit.orphans.push(pid);
                }
                self.children.insert(pid, invocation);
            }
        }
    }

    /// The run an orphan comes from: by its cgroup, its session, the marker it was started with, or
    /// else the run that has just lost a process.
    fn run_of(&self, pid: i32, ended: Option<&InvocationId>) -> Option<InvocationId> {
        let in_cgroup = || {
            let hierarchy = self.hierarchy.as_ref()?;
            let cgroup = process::cgroup(pid)?;
            let name = hierarchy.unit_of(&cgroup)?;
            let mut runs = self.units.iter();
            let (invocation, _) = runs.find(|(_, unit)| {
                unit.cgroup
                    .as_ref()
                    .is_some_and(|cgroup| cgroup.name() == name)
            })?;
            Some(invocation.clone())
        };
        let in_session = || {
            let session = Process::read(pid)?.session;
            let mut runs = self.units.iter();
            runs.find(|(_, unit)| unit.pid == session)
                .map(|(invocation, _)| invocation.clone())
        };
        let marked = || {
            let invocation = process::variable(pid, INVOCATION_VARIABLE)?.parse().ok()?;
            self.units.contains_key(&invocation).then_some(invocation)
        };
        in_cgroup()
            .or_else(in_session)
            .or_else(marked)
            .or_else(|| ended.cloned())
    }

    /// Whether nothing of the run is left.
    pub(crate) fn is_empty(&self, unit: &Unit) -> bool {
        let populated = |cgroup: &crate::cgroup::UnitCgroup| {
            self.hierarchy
                .as_ref()
                .is_some_and(|hierarchy| cgroup.is_populated(hierarchy))
        };
        !unit.has_main() && unit.orphans.is_empty() && !unit.cgroup.as_ref().is_some_and(populated)
    }

    /// The living processes of the run.
    pub(crate) fn members(&self, unit: &Unit) -> Vec<Process> {
        let mut members: Vec<Process> = self.in_cgroup(unit);
        let known: HashSet<i32> = members.iter().map(|member| member.pid).collect();
        let main = unit.has_main().then_some(unit.pid);
        let roots: Vec<i32> = unit
            .orphans
            .iter()
            .copied()
            .chain(main)
            .filter(|pid| !known.contains(pid))
            .collect();
        if !roots.is_empty() {
            members.extend(
                descendants(&roots)
                    .into_iter()
                    .filter(|process| !known.contains(&process.pid)),
            );
        }
        members.retain(Process::lives);
        members
    }

    fn in_cgroup(&self, unit: &Unit) -> Vec<Process> {
        match (&self.hierarchy, &unit.cgroup) {
            (Some(hierarchy), Some(cgroup)) => cgroup
                .processes(hierarchy)
                .into_iter()
                .filter_map(Process::read)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Sends a signal to every process of the run, once to each, those included that it makes meanwhile.
    pub(crate) fn signal_tree(&self, unit: &Unit, what: Signal) -> Result<(), Errno> {
        let mut result = Ok(());
        if what == Signal::KILL
            && let (Some(hierarchy), Some(cgroup)) = (&self.hierarchy, &unit.cgroup)
        {
            result = cgroup.kill(hierarchy);
        }
        let mut sent = HashSet::new();
        for _ in 0..ROUNDS {
            let members = self.members(unit);
            let news: Vec<_> = members
                .iter()
                .filter(|member| sent.insert((member.pid, member.start_time)))
                .collect();
            if news.is_empty() {
                break;
            }
            if what == Signal::KILL && unit.cgroup.is_none() {
                kill_groups(&news);
            }
            for member in news {
                match self.signal_member(unit, member, what) {
                    Ok(()) | Err(Errno::SRCH) => {}
                    Err(error) => result = Err(error),
                }
            }
        }
        result
    }

    fn signal_member(&self, unit: &Unit, member: &Process, what: Signal) -> Result<(), Errno> {
        if self.children.contains_key(&member.pid) || unit.has_main() && member.pid == unit.pid {
            return signal::send_to_child(member.pid, what);
        }
        signal::send_to(member.pid, what, || {
            Process::read(member.pid).is_some_and(|now| now.start_time == member.start_time)
        })
    }
}

/// `roots` and everything that descends from them.
pub(crate) fn descendants(roots: &[i32]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    let mut found = Vec::new();
    for process in process::all() {
        if roots.contains(&process.pid) {
            found.push(process);
        } else {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.remove(&process.pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// A signal to a group reaches all of it at one moment, which ends what forks faster than it can be
/// walked. Every member of a group is in one session, and each session here was made in this tree.
fn kill_groups(members: &[&Process]) {
    let groups: HashSet<i32> = members
        .iter()
        .filter(|member| member.group > 1)
        .map(|member| member.group)
        .collect();
    for group in groups {
        // Each member is signalled one by one afterwards, so a failure shows there.
        signal::send_to_group(group, Signal::KILL).ok();
    }
}

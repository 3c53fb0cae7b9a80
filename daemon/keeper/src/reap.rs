//! Reaping: no child of the keeper stays a zombie.

use std::{collections::HashSet, time::Instant};

use harness_model::{ExitReport, ExitStatus, InvocationId, Usage};

use crate::{keeper::Keeper, wait};

impl Keeper {
    /// Reaps every child that has ended, and sees what that means for the runs they belonged to.
    pub(crate) fn reap(&mut self) {
        let mut touched = HashSet::new();
        let mut last = None;
        while let Some(first) = wait::ended_child() {
            // The children of those that have ended are the keeper's now. They are looked for before
            // the reaping, while it is known whose they were, and after it, for those that ended meanwhile.
            last = self.children.get(&first).cloned().or(last);
            self.adopt_orphans(last.as_ref());
            while let Some(pid) = wait::ended_child() {
                let Ok((status, usage)) = wait::reap(pid) else {
                    break;
                };
                if let Some(invocation) = self.children.remove(&pid) {
                    self.child_ended(&invocation, pid, status, usage);
                    last = Some(invocation.clone());
                    touched.insert(invocation);
                }
            }
            self.adopt_orphans(last.as_ref());
        }
        for invocation in touched {
            self.settle(&invocation);
        }
    }

    fn child_ended(
        &mut self,
        invocation: &InvocationId,
        pid: i32,
        status: ExitStatus,
        usage: Usage,
    ) {
        let Some(unit) = self.units.get_mut(invocation) else {
            return;
        };
        if unit.pid == pid && unit.exit.is_none() {
            let runtime = Instant::now().saturating_duration_since(unit.started);
            unit.exit = Some(ExitReport {
                status,
                ended_at: std::time::SystemTime::now().into(),
                runtime_usec: u64::try_from(runtime.as_micros()).unwrap_or(u64::MAX),
                usage,
                oom_killed: false,
                left_over: 0,
                survivors: Vec::new(),
            });
        } else {
            unit.orphans.retain(|orphan| *orphan != pid);
        }
    }
}

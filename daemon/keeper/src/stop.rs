//! Ending a tree: signal, wait, last signal, proof (systemd.kill(5)).

use std::time::{Duration, Instant};

use harness_keeper::protocol::{Event, StopSequence};
use harness_model::{InvocationId, KillMode, Signal};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    time::Timespec,
};

use crate::{
    keeper::Keeper,
    signal,
    unit::{Phase, Stage, Unit},
};

/// How long the kernel may take to end what got the last signal, before it is called a survivor.
const PATIENCE: Duration = Duration::from_secs(5);

impl Keeper {
    /// Starts to end a run. One that is being ended already goes the faster of both ways.
    ///
    /// # Errors
    /// The first signal could not be sent; the last one is tried all the same.
    pub(crate) fn stop(
        &mut self,
        invocation: &InvocationId,
        sequence: StopSequence,
    ) -> Result<(), Errno> {
        let now = Instant::now();
        let Some(unit) = self
            .units
            .get_mut(invocation)
            .filter(|unit| !unit.has_ended())
        else {
            return Ok(());
        };
        let asked = timeout(&sequence).and_then(|timeout| now.checked_add(timeout));
        let (deadline, again) = match unit.phase {
            Phase::Running => (asked, true),
            Phase::Terminating { deadline } => (
                deadline.into_iter().chain(asked).min(),
                sequence.kill_signal != unit.sequence.kill_signal,
            ),
            Phase::Killing { .. } => return Ok(()),
        };
        unit.sequence = sequence;
        unit.phase = Phase::Terminating { deadline };
        if again {
            self.send_first(invocation)
        } else {
            Ok(())
        }
    }

    fn send_first(&self, invocation: &InvocationId) -> Result<(), Errno> {
        let Some(unit) = self.units.get(invocation) else {
            return Ok(());
        };
        let what = unit.sequence.kill_signal;
        self.send_stop_signal(
            unit,
            what,
            unit.sequence.kill_mode == KillMode::ControlGroup,
        )?;
        if what != Signal::KILL && what != Signal::CONT {
            // A stopped process takes no other signal in; systemd does the same.
            self.send_stop_signal(
                unit,
                Signal::CONT,
                unit.sequence.kill_mode == KillMode::ControlGroup,
            )?;
        }
        Ok(())
    }

    fn send_stop_signal(&self, unit: &Unit, what: Signal, whole_tree: bool) -> Result<(), Errno> {
        if whole_tree {
            self.signal_tree(unit, what)
        } else if unit.has_main() {
            signal::send_to_child(unit.pid, what)
        } else {
            Ok(())
        }
    }

    /// What the end of a process means for its run.
    pub(crate) fn settle(&mut self, invocation: &InvocationId) {
        let Some(unit) = self.units.get(invocation) else {
            return;
        };
        if unit.has_ended() {
            self.forget_if_done(invocation);
        } else if unit.exit.is_some() && unit.stage == Stage::Running {
            self.main_ended(invocation);
        } else if self.is_empty(unit) {
            self.conclude(invocation, Vec::new());
        } else if let Phase::Killing { .. } = unit.phase
            && unit.sequence.kill_mode != KillMode::Process
        {
            // The end of one process may have brought others to light.
            self.signal_tree(unit, unit.sequence.final_kill_signal).ok();
        }
    }

    fn main_ended(&mut self, invocation: &InvocationId) {
        let Some(unit) = self.units.get(invocation) else {
            return;
        };
        let empty = self.is_empty(unit);
        let left_over = if empty {
            0
        } else {
            self.count_left_over(invocation)
        };
        let Some(unit) = self.units.get_mut(invocation) else {
            return;
        };
        let phase = unit.phase;
        let mode = unit.sequence.kill_mode;
        unit.stage = Stage::MainEnded;
        if let Some(exit) = &mut unit.exit {
            exit.left_over = u32::try_from(left_over).unwrap_or(u32::MAX);
            let exit = exit.clone();
            self.tell(&Event::MainExited {
                invocation: invocation.clone(),
                exit,
            });
        }
        if empty || mode == KillMode::Process {
            self.conclude(invocation, Vec::new());
            return;
        }
        self.watch_cgroup(invocation);
        match (phase, mode) {
            // With the main process gone nobody is left who would have been asked politely.
            (Phase::Running | Phase::Terminating { .. }, KillMode::Mixed) => {
                self.send_last(invocation);
            }
            (Phase::Running, _) => self.end_rest(invocation),
            (Phase::Terminating { .. } | Phase::Killing { .. }, _) => self.settle(invocation),
        }
    }

    fn count_left_over(&mut self, invocation: &InvocationId) -> usize {
        let count = |keeper: &Self| {
            keeper
                .units
                .get(invocation)
                .map_or(0, |unit| keeper.members(unit).len())
        };
        match count(self) {
            0 => {
                // The one orphan there was may have forked and ended while it was looked at.
                self.adopt_orphans(Some(invocation));
                count(self)
            }
            some => some,
        }
    }

    fn end_rest(&mut self, invocation: &InvocationId) {
        if let Some(sequence) = self.units.get(invocation).map(|unit| unit.sequence.clone()) {
            // What cannot be signalled shows up as a survivor.
            self.stop(invocation, sequence).ok();
            self.settle(invocation);
        }
    }

    /// Sends the last signal.
    fn send_last(&mut self, invocation: &InvocationId) {
        let Some(unit) = self.units.get(invocation) else {
            return;
        };
        let what = unit.sequence.final_kill_signal;
        self.kill(invocation, what);
        if let Some(unit) = self.units.get_mut(invocation)
            && !unit.final_kill
        {
            unit.final_kill = true;
            self.tell(&Event::FinalKill {
                invocation: invocation.clone(),
            });
        }
    }

    fn kill(&mut self, invocation: &InvocationId, what: Signal) {
        let Some(unit) = self.units.get(invocation) else {
            return;
        };
        // What cannot be signalled is named as a survivor at the deadline.
        self.send_stop_signal(unit, what, unit.sequence.kill_mode != KillMode::Process)
            .ok();
        if let Some(unit) = self.units.get_mut(invocation) {
            unit.phase = Phase::Killing {
                deadline: Some(Instant::now() + PATIENCE),
                certain: what == Signal::KILL,
            };
        }
    }

    /// Begins or goes on with every stop whose time has come.
    pub(crate) fn meet_deadlines(&mut self, now: Instant) {
        let due: Vec<_> = self
            .units
            .iter()
            .filter(|(_, unit)| {
                !unit.has_ended() && unit.deadline().is_some_and(|deadline| deadline <= now)
            })
            .map(|(invocation, unit)| (invocation.clone(), unit.phase))
            .collect();
        for (invocation, phase) in due {
            match phase {
                Phase::Running => self.end_rest(&invocation),
                Phase::Terminating { .. } => self.send_last(&invocation),
                Phase::Killing { certain: false, .. } => self.kill(&invocation, Signal::KILL),
                Phase::Killing { certain: true, .. } => self.give_up(&invocation),
            }
        }
    }

    /// Even `SIGKILL` did not end it: a process in an uninterruptible sleep, or one of another user.
    fn give_up(&mut self, invocation: &InvocationId) {
        // Those that were born while the others were killed.
        let Some(unit) = self.units.get(invocation) else {
            return;
        };
        self.signal_tree(unit, Signal::KILL).ok();
        if unit.has_main() {
            // It has no status to report before it is gone, which it will be as soon as the kernel lets it.
            if let Some(unit) = self.units.get_mut(invocation) {
                unit.phase = Phase::Killing {
                    deadline: None,
                    certain: true,
                };
            }
            return;
        }
        let survivors = self
            .members(unit)
            .iter()
            .map(crate::process::Process::describe)
            .collect();
        self.conclude(invocation, survivors);
    }

    /// The report is final.
    fn conclude(&mut self, invocation: &InvocationId, survivors: Vec<String>) {
        let hierarchy = self.hierarchy.as_ref();
        let Some(unit) = self.units.get_mut(invocation) else {
            return;
        };
        let oom_killed = hierarchy
            .zip(unit.cgroup.as_ref())
            .is_some_and(|(hierarchy, cgroup)| cgroup.oom_killed(hierarchy));
        unit.stage = Stage::Ended;
        if let Some(memory) = &mut self.memory {
            memory.remove(invocation);
        }
        if let Some(exit) = &mut unit.exit {
            exit.oom_killed = oom_killed;
            exit.survivors = survivors;
            let exit = exit.clone();
            self.tell(&Event::Ended {
                invocation: invocation.clone(),
                exit,
            });
        }
        self.forget_if_done(invocation);
    }

    /// Kills what ended runs have left on purpose: it does not outlive the keeper.
    pub(crate) fn kill_remnants(&mut self) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.reap();
            let left: Vec<_> = self
                .units
                .values()
                .filter(|unit| !self.is_empty(unit))
                .collect();
            for unit in &left {
                // Those that cannot be signalled were named as survivors.
                self.signal_tree(unit, Signal::KILL).ok();
            }
            let patience = Timespec::try_from(end.saturating_duration_since(Instant::now()));
            let (false, Ok(patience)) = (left.is_empty() || Instant::now() >= end, patience) else {
                return;
            };
            // The end of one of them is a signal; which, `reap` finds out.
            poll(
                &mut [PollFd::new(&self.signals, PollFlags::IN)],
                Some(&patience),
            )
            .ok();
            signal::received(&self.signals);
        }
    }

    /// Frees what a run that has ended holds, as soon as nothing of it is left.
    pub(crate) fn forget_if_done(&mut self, invocation: &InvocationId) {
        let Some(unit) = self.units.get(invocation).filter(|unit| unit.has_ended()) else {
            return;
        };
        if !self.is_empty(unit) {
            self.watch_cgroup(invocation);
            return;
        }
        if let Some(unit) = self.units.get_mut(invocation) {
            self.empty_cgroups.extend(unit.cgroup.take());
            if unit.stage == Stage::Acknowledged {
                self.units.remove(invocation);
            }
        }
        if let Some(hierarchy) = &self.hierarchy {
            // The kernel may still hold one for a moment; it is tried again with the next.
            self.empty_cgroups
                .retain(|cgroup| !cgroup.remove(hierarchy));
        }
    }
}

fn timeout(sequence: &StopSequence) -> Option<Duration> {
    sequence.timeout_usec.map(Duration::from_micros)
}

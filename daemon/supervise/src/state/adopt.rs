//! A unit that a restart of the daemon left in the middle of its life.

use std::time::Duration;

use harness_model::{ActiveState, SubState, UnitPolicy, UnitState};

use super::{Action, Machine};
use crate::{
    clock::Now,
    restart::{StartLimit, restart_delay},
};

/// What the owner of processes says of a unit's last recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The main process, or what it was.
    pub pid: i32,
    /// How long it has been running, on the monotonic clock.
    pub running_for: Duration,
}

impl Machine {
    /// Continues where the record stops.
    ///
    /// A run that its owner knows goes on, with what is left of its time. One that its owner does
    /// not know is to be told [`Lost`](super::Event::Lost) next. A restart that was
    /// scheduled waits for what is left, but never longer than it would have from the start.
    #[must_use]
    pub fn adopt(
        policy: UnitPolicy,
        state: UnitState,
        limit: StartLimit,
        known: Option<Known>,
        now: Now,
    ) -> (Self, Vec<Action>) {
        let mut machine = Self::new(policy, state, limit);
        machine.continued();
        let actions = match machine.state.sub_state {
            SubState::Dead | SubState::Failed | SubState::Exited => Vec::new(),
            SubState::AutoRestart => {
                machine.resume_wait(now);
                Vec::new()
            }
            SubState::Start | SubState::Running | SubState::StopSigterm | SubState::StopSigkill => {
                match known {
                    Some(known) => machine.resume_run(known, now),
                    None => Vec::new(),
                }
            }
        };
        (machine, actions)
    }

    fn resume_wait(&mut self, now: Now) {
        // Kept by the wall clock, which may have been set since.
        let left = self.state.restart_at.map(|due| due.since(now.wall));
        let longest = restart_delay(&self.policy, self.state.restarts);
        self.deadline = match (left, longest) {
            (Some(left), Some(longest)) => Some(now.monotonic.plus(left.min(longest))),
            (Some(left), None) => Some(now.monotonic.plus(left)),
            (None, _) => None,
        };
    }

    fn resume_run(&mut self, known: Known, now: Now) -> Vec<Action> {
        if self.main_exited() {
            return Vec::new();
        }
        self.state.pid = Some(known.pid);
        let stopping = self.state.active_state == ActiveState::Deactivating;
        if stopping || self.state.stop_requested {
            if !stopping {
                self.state.active_state = ActiveState::Deactivating;
                self.state.sub_state = SubState::StopSigterm;
            }
            return vec![Action::Note, Action::Stop];
        }
        self.state.active_state = ActiveState::Active;
        self.state.sub_state = SubState::Running;
        self.deadline = self
            .policy
            .runtime_max
            .map(|span| now.monotonic.plus(span.saturating_sub(known.running_for)));
        vec![Action::Note]
    }
}

//! The transitions.

use harness_model::{
    ActiveState, ExitReport, ExitStatus, InvocationId, KillMode, OomPolicy, SubState, Timestamp,
    UnitPolicy, UnitResult, UnitState,
};

use super::{Action, Event};
use crate::{
    clock::{Moment, Now},
    restart::{StartLimit, restart_delay, should_restart},
};

/// One unit's state, and what its next state depends on.
#[derive(Debug)]
pub struct Machine {
    pub(super) policy: UnitPolicy,
    pub(super) state: UnitState,
    pub(super) limit: StartLimit,
    /// `runtime_max_sec` while it runs, the restart while it waits for one.
    pub(super) deadline: Option<Moment>,
    /// Somebody wants it started as soon as it is gone.
    start_wanted: bool,
    /// The next start is somebody's, not an automatic one: systemd counts `NRestarts` from zero then.
    fresh: bool,
    /// The last start was refused by the start limit.
    refused: bool,
}

impl Machine {
    /// A unit at rest: a new one, or one that somebody starts again.
    #[must_use]
    pub fn new(policy: UnitPolicy, state: UnitState, limit: StartLimit) -> Self {
        Self {
            policy,
            state,
            limit,
            deadline: None,
            start_wanted: false,
            fresh: true,
            refused: false,
        }
    }

    /// It was in the middle of its life: an automatic restart stays one.
    pub(super) fn continued(&mut self) {
        self.fresh = false;
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> &UnitState {
        &self.state
    }

    /// Its policy.
    #[must_use]
    pub fn policy(&self) -> &UnitPolicy {
        &self.policy
    }

    /// The starts that the start limit still counts.
    #[must_use]
    pub fn recent_starts(&self) -> &[Timestamp] {
        self.limit.recent()
    }

    /// When [`timer_event`](Self::timer_event) is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Moment> {
        self.deadline
    }

    /// What it means that the deadline has passed.
    #[must_use]
    pub fn timer_event(&self) -> Event {
        if self.state.sub_state == SubState::AutoRestart {
            Event::RestartDue(InvocationId::generate())
        } else {
            Event::RuntimeMaxPassed
        }
    }

    /// Puts off a restart that cannot be recorded now.
    pub(crate) fn postpone(&mut self, until: Moment) {
        self.deadline = Some(until);
    }

    /// Whether somebody's restart is still under way.
    #[must_use]
    pub fn start_wanted(&self) -> bool {
        self.start_wanted
    }

    /// Whether the last start was refused by the start limit.
    #[must_use]
    pub fn refused(&self) -> bool {
        self.refused
    }

    /// Moves on.
    pub fn handle(&mut self, event: Event, now: Now) -> Vec<Action> {
        match event {
            Event::Start(invocation) => self.start(invocation, now),
            Event::RestartDue(invocation) => self.restart_due(invocation, now),
            Event::Spawned {
                pid,
                started_at,
                not_enforced,
            } => self.spawned(pid, started_at, &not_enforced, now),
            Event::SpawnFailed(reason) => self.spawn_failed(&reason, now),
            Event::MainExited(report) => self.main_exit(report),
            Event::FinalKill => self.final_kill(),
            Event::OomKilled => self.oom_killed(),
            Event::Ended(report) => self.ended(report, now),
            Event::Lost => self.lost(now),
            Event::RuntimeMaxPassed => self.runtime_max_passed(),
            Event::StopRequested => self.stop_requested(now),
            Event::RestartRequested => self.restart_requested(),
            Event::ResetFailed => {
                self.state.restarts = 0;
                self.limit = StartLimit::default();
                vec![Action::Note]
            }
            Event::Noted(text) => {
                self.note(&text);
                vec![Action::Note]
            }
        }
    }

    fn set(&mut self, active_state: ActiveState, sub_state: SubState) {
        self.state.active_state = active_state;
        self.state.sub_state = sub_state;
    }

    /// The first thing that went wrong is the result (systemd keeps it likewise).
    fn fail(&mut self, result: UnitResult) {
        if self.state.result == UnitResult::Success {
            self.state.result = result;
        }
    }

    fn note(&mut self, text: &str) {
        let note = self.state.note.get_or_insert_default();
        if !note.contains(text) {
            if !note.is_empty() {
                note.push_str("; ");
            }
            note.push_str(text);
        }
    }

    fn start(&mut self, invocation: InvocationId, now: Now) -> Vec<Action> {
        self.refused = false;
        if std::mem::take(&mut self.fresh) {
            self.state.restarts = 0;
        }
        if !self.limit.admit(&self.policy, now) {
            // A run that failed keeps its own result (systemd does the same).
            self.refused = true;
            self.fail(UnitResult::StartLimitHit);
            return self.rest(now);
        }
        self.set(ActiveState::Activating, SubState::Start);
        self.deadline = None;
        let state = &mut self.state;
        state.result = UnitResult::Success;
        state.invocation = Some(invocation);
        state.started_at.get_or_insert(now.wall);
        state.invocation_started_at = Some(now.wall);
        state.pid = None;
        state.exit = None;
        state.ended_at = None;
        state.restart_at = None;
        state.stop_requested = false;
        state.runtime_exceeded = false;
        state.interrupted = false;
        state.note = None;
        vec![Action::Spawn]
    }

    fn restart_due(&mut self, invocation: InvocationId, now: Now) -> Vec<Action> {
        if self.state.sub_state != SubState::AutoRestart {
            return Vec::new();
        }
        // Counted even when the limit refuses it, as NRestarts is.
        self.state.restarts = self.state.restarts.saturating_add(1);
        self.start(invocation, now)
    }

    fn spawned(
        &mut self,
        pid: i32,
        started_at: Timestamp,
        not_enforced: &[String],
        now: Now,
    ) -> Vec<Action> {
        self.state.pid = Some(pid);
        self.state.invocation_started_at = Some(started_at);
        if !not_enforced.is_empty() {
            self.note(&format!("not enforced here: {}", not_enforced.join(", ")));
        }
        if self.state.stop_requested || self.start_wanted {
            self.set(ActiveState::Deactivating, SubState::StopSigterm);
            return vec![Action::Note, Action::Stop];
        }
        self.set(ActiveState::Active, SubState::Running);
        self.deadline = self.policy.runtime_max.map(|span| now.monotonic.plus(span));
        vec![Action::Note]
    }

    fn spawn_failed(&mut self, reason: &str, now: Now) -> Vec<Action> {
        self.fail(UnitResult::Resources);
        self.note(reason);
        self.finish(now)
    }

    /// The result of a run by its end alone.
    fn judge(&self, report: &ExitReport) -> UnitResult {
        if report.oom_killed && self.policy.oom_policy != OomPolicy::Continue {
            return UnitResult::OomKill;
        }
        match report.status {
            status if self.policy.is_clean(status) => UnitResult::Success,
            ExitStatus::Exited(_) => UnitResult::ExitCode,
            ExitStatus::Signaled {
                core_dump: true, ..
            } => UnitResult::CoreDump,
            ExitStatus::Signaled { .. } => UnitResult::Signal,
        }
    }

    fn main_exit(&mut self, report: ExitReport) -> Vec<Action> {
        if !self.has_process() {
            return Vec::new();
        }
        self.fail(self.judge(&report));
        self.deadline = None;
        self.state.pid = None;
        let left_over = report.left_over > 0;
        self.state.exit = Some(report);
        if self.state.sub_state != SubState::StopSigkill {
            self.set(ActiveState::Deactivating, SubState::StopSigterm);
        }
        // Without any the end follows at once, and is recorded anyway.
        if left_over {
            vec![Action::Note]
        } else {
            Vec::new()
        }
    }

    fn final_kill(&mut self) -> Vec<Action> {
        if !self.has_process() {
            return Vec::new();
        }
        // In mixed mode the rest of the tree gets the last signal at once: no time has run out then.
        if !(self.main_exited() && self.policy.kill_mode == KillMode::Mixed) {
            self.fail(UnitResult::Timeout);
        }
        self.deadline = None;
        self.set(ActiveState::Deactivating, SubState::StopSigkill);
        vec![Action::Note]
    }

    fn oom_killed(&mut self) -> Vec<Action> {
        if !self.has_process() || self.policy.oom_policy == OomPolicy::Continue {
            return Vec::new();
        }
        self.fail(UnitResult::OomKill);
        if self.state.sub_state != SubState::Running {
            return vec![Action::Note];
        }
        self.deadline = None;
        if self.policy.oom_policy == OomPolicy::Kill {
            // The kernel kills the rest itself.
            self.set(ActiveState::Deactivating, SubState::StopSigkill);
            return vec![Action::Note];
        }
        self.set(ActiveState::Deactivating, SubState::StopSigterm);
        vec![Action::Note, Action::Stop]
    }

    fn ended(&mut self, report: ExitReport, now: Now) -> Vec<Action> {
        if !self.has_process() {
            return Vec::new();
        }
        let oom = report.oom_killed && self.policy.oom_policy != OomPolicy::Continue;
        if !self.main_exited() || oom {
            self.fail(self.judge(&report));
        }
        self.state.exit = Some(report);
        self.finish(now)
    }

    fn lost(&mut self, now: Now) -> Vec<Action> {
        if !self.has_process() {
            return Vec::new();
        }
        // Whatever took the owner away most likely took the process too; it may also still be
        // there, so a restart could make two of it.
        self.fail(UnitResult::Signal);
        self.state.interrupted = true;
        self.start_wanted = false;
        self.settle(now)
    }

    fn runtime_max_passed(&mut self) -> Vec<Action> {
        if self.state.sub_state != SubState::Running {
            return Vec::new();
        }
        self.deadline = None;
        self.state.runtime_exceeded = true;
        self.fail(UnitResult::Timeout);
        self.set(ActiveState::Deactivating, SubState::StopSigterm);
        vec![Action::Note, Action::Stop]
    }

    fn stop_requested(&mut self, now: Now) -> Vec<Action> {
        self.start_wanted = false;
        match self.state.sub_state {
            SubState::Dead | SubState::Failed | SubState::Exited => Vec::new(),
            SubState::Start => {
                self.state.stop_requested = true;
                vec![Action::Record]
            }
            SubState::AutoRestart => {
                self.state.stop_requested = true;
                self.settle_as(ActiveState::Inactive, SubState::Dead, now)
            }
            SubState::Running | SubState::StopSigterm | SubState::StopSigkill => {
                self.state.stop_requested = true;
                self.deadline = None;
                if self.state.sub_state == SubState::Running {
                    self.set(ActiveState::Deactivating, SubState::StopSigterm);
                }
                // Asked for again in case the first request got lost; the owner knows what it did.
                vec![Action::Record, Action::Stop]
            }
        }
    }

    fn restart_requested(&mut self) -> Vec<Action> {
        match self.state.sub_state {
            SubState::Dead | SubState::Failed | SubState::Exited => Vec::new(),
            // Its wait is cut short; NRestarts stays, as with systemctl.
            SubState::AutoRestart => vec![Action::Start],
            SubState::Start | SubState::StopSigterm | SubState::StopSigkill => {
                self.start_wanted = true;
                self.state.stop_requested = false;
                vec![Action::Note]
            }
            SubState::Running => {
                self.start_wanted = true;
                self.deadline = None;
                self.set(ActiveState::Deactivating, SubState::StopSigterm);
                vec![Action::Note, Action::Stop]
            }
        }
    }

    /// The main process is gone, the tree not yet: the exit is forgotten when the next run starts.
    pub(super) fn main_exited(&self) -> bool {
        self.has_process() && self.state.exit.is_some()
    }

    /// Whether a run is under way.
    #[must_use]
    pub fn has_process(&self) -> bool {
        matches!(
            self.state.sub_state,
            SubState::Start | SubState::Running | SubState::StopSigterm | SubState::StopSigkill
        )
    }

    /// A run is over: it is followed by another, or the unit comes to rest.
    fn finish(&mut self, now: Now) -> Vec<Action> {
        self.state.pid = None;
        let run = self.state.invocation.clone();
        let status = self.state.exit.as_ref().map(|exit| exit.status);
        let wanted = std::mem::take(&mut self.start_wanted);
        let delay = if wanted {
            // Recorded as a restart that is due, so that it survives the daemon.
            self.fresh = true;
            Some(std::time::Duration::ZERO)
        } else if should_restart(
            &self.policy,
            self.state.result,
            status,
            self.state.stop_requested,
        ) {
            restart_delay(&self.policy, self.state.restarts)
        } else {
            return self.settle(now);
        };
        self.set(ActiveState::Activating, SubState::AutoRestart);
        self.state.restart_at = delay.map(|delay| now.wall.plus(delay));
        self.deadline = delay.map(|delay| now.monotonic.plus(delay));
        let mut actions = vec![Action::Record];
        actions.extend(run.map(Action::Acknowledge));
        if wanted {
            self.deadline = None;
            actions.push(Action::Start);
        }
        actions
    }

    /// Comes to rest after a run.
    fn settle(&mut self, now: Now) -> Vec<Action> {
        let mut actions = self.rest(now);
        actions.extend(self.state.invocation.clone().map(Action::Acknowledge));
        actions
    }

    fn rest(&mut self, now: Now) -> Vec<Action> {
        if self.state.result == UnitResult::Success {
            self.settle_as(ActiveState::Inactive, SubState::Dead, now)
        } else {
            self.settle_as(ActiveState::Failed, SubState::Failed, now)
        }
    }

    fn settle_as(&mut self, active: ActiveState, sub: SubState, now: Now) -> Vec<Action> {
        self.set(active, sub);
        self.deadline = None;
        self.start_wanted = false;
        self.fresh = true;
        self.state.pid = None;
        self.state.restart_at = None;
        self.state.ended_at = Some(now.wall);
        vec![Action::Rest]
    }
}

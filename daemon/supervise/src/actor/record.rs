//! Writing things down before anybody is told.

use std::{sync::Arc, time::Duration};

use harness_model::{InvocationId, KillMode, NewUnit, TimeSpan, Transition, UnitKind};

use super::run::Actor;
use crate::{JournalError, StartError, output};

/// How long to wait before the record is tried again, the first time and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// How long a stop waits for the record before it goes ahead without it.
const PATIENCE: Duration = Duration::from_secs(2);
/// A wake's body.
const LAST_LINES: (usize, usize) = (20, 2048);

impl Actor {
    pub(super) fn transition(&self) -> Transition {
        Transition {
            unit: self.handle.id().clone(),
            kind: self.handle.spec().kind,
            state: self.machine.state().clone(),
            recent_starts: self.machine.recent_starts().to_vec(),
            last_lines: None,
            awaited: false,
        }
    }

    pub(super) async fn record_opening(&mut self, new: Option<NewUnit>) -> Result<(), StartError> {
        let transition = self.transition();
        match new {
            Some(new) => self.engine.journal.created(new, transition).await?,
            None => self.engine.journal.starting(transition).await?,
        }
        Ok(())
    }

    pub(super) async fn record_start(&mut self) -> Result<(), JournalError> {
        let transition = self.transition();
        self.engine.journal.starting(transition).await?;
        self.written();
        Ok(())
    }

    /// A run's end, a restart that is scheduled, a stop that is asked for. If the record cannot be
    /// written now, what follows happens all the same, but no new run begins before it is.
    pub(super) async fn record(&mut self) {
        let transition = self.transition();
        let changed = self.engine.journal.changed(transition);
        match tokio::time::timeout(PATIENCE, changed).await {
            Ok(Ok(())) => self.written(),
            Ok(Err(error)) => {
                tracing::error!(unit = %self.handle.id(), %error, "a change is not recorded yet");
                self.unwritten = true;
            }
            Err(_) => {
                tracing::error!(unit = %self.handle.id(), "the record is slow: a change is not recorded yet");
                self.unwritten = true;
            }
        }
    }

    /// Whether the record has all that happened before a restart; if not, the restart is put off.
    pub(super) async fn caught_up(&mut self) -> bool {
        if self.unwritten {
            self.record().await;
        }
        if self.unwritten {
            let now = self.engine.clock.now();
            self.machine.postpone(now.monotonic.plus(RETRY.0));
        }
        !self.unwritten
    }

    fn written(&mut self) {
        self.unwritten = false;
        for invocation in self.unacknowledged.drain(..) {
            self.engine.spawner.acknowledge(&invocation);
        }
    }

    pub(super) fn acknowledge(&mut self, invocation: InvocationId) {
        if self.unwritten {
            self.unacknowledged.push(invocation);
        } else {
            self.engine.spawner.acknowledge(&invocation);
        }
    }

    /// Recorded first, then told. While the record cannot be written the unit is at rest all the
    /// same, but stays in the engine, and its run is not acknowledged: nothing is lost.
    pub(super) async fn come_to_rest(&mut self) {
        self.done = true;
        self.release_output().await;
        let last_lines = self.last_lines();
        let refused = self.opening.is_some();
        let mut wait = RETRY.0;
        loop {
            let mut transition = self.transition();
            transition.last_lines.clone_from(&last_lines);
            // Who asked for a start is told of its failure.
            transition.awaited = self.handle.shared.waits.close() || refused;
            match self.write_rest(transition).await {
                Ok(()) => break,
                Err(error) => {
                    tracing::error!(unit = %self.handle.id(), %error, "an end is not recorded yet");
                }
            }
            self.tell_rest();
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RETRY.1);
        }
        self.engine.forget(self.handle.id());
        if refused {
            self.engine.journal.waited(self.handle.id(), true);
        } else {
            self.handle.shared.waits.journaled();
        }
        self.written();
        self.tell_rest();
    }

    /// A record that takes its time does not keep everybody from the end of a unit.
    async fn write_rest(&mut self, transition: Transition) -> Result<(), JournalError> {
        let journal = Arc::clone(&self.engine.journal);
        let mut changed = journal.changed(transition);
        if let Ok(done) = tokio::time::timeout(PATIENCE, &mut changed).await {
            return done;
        }
        self.tell_rest();
        changed.await
    }

    fn tell_rest(&mut self) {
        self.publish();
        self.refuse_opening();
        self.tell_opened();
    }

    /// The start limit refused what somebody asked for.
    fn refuse_opening(&mut self) {
        let Some(opening) = self.opening.take() else {
            return;
        };
        let policy = self.machine.policy();
        let error = StartError::StartLimit {
            unit: self.handle.id().clone(),
            burst: policy.start_limit_burst,
            interval: policy
                .start_limit_interval
                .map_or(TimeSpan::INFINITY, TimeSpan::from),
        };
        opening.reply.send(Err(error)).ok();
    }

    fn last_lines(&self) -> Option<String> {
        if self.handle.spec().kind != UnitKind::Task {
            return None;
        }
        let path = &self.handle.spec().output.stdout;
        output::last_lines(path, LAST_LINES.0, LAST_LINES.1).ok()
    }

    /// What is left on purpose may go on writing: its files stay within their budget.
    async fn release_output(&mut self) {
        let exit = self.machine.state().exit.as_ref();
        let left = exit.is_some_and(|exit| {
            !exit.survivors.is_empty()
                || exit.left_over > 0 && self.machine.policy().kill_mode == KillMode::Process
        });
        for budget in self.budgets.drain(..) {
            if left {
                budget.keep_on();
            } else {
                budget.finish().await;
            }
        }
    }
}

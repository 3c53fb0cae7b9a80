//! Runs: which script is calling, what it may still do, and what it has done.
//!
//! A run is one process tree of a task or a `shell` call. Its token names it in its environment and dies with it; that a
//! caller is in the tree is asked of the keeper, so a token alone opens nothing.

mod access;
mod run;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use harness_keeper::protocol::Location;
use harness_model::{ErrorCode, InvocationId, Refusal, UnitKind};
use harness_record::Record;
use harness_supervise::Engine;

pub(crate) use access::AccessError;
pub(crate) use access::RunAccess;
pub(crate) use run::{NOT_REACHED, Run, command};

/// The runs that have called, as long as they live.
pub(crate) struct Runs {
    access: Arc<RunAccess>,
    engine: Engine,
    record: Record,
    live: Mutex<HashMap<InvocationId, Arc<Run>>>,
}

impl Runs {
    pub(crate) fn new(access: Arc<RunAccess>, engine: Engine, record: Record) -> Self {
        Self {
            access,
            engine,
            record,
            live: Mutex::default(),
        }
    }

    /// The directory with the command `tools`, where that is installed.
    pub(crate) fn directory(&self) -> Option<&str> {
        self.access.directory()
    }

    /// The run of a caller, whose place the keeper has told.
    ///
    /// # Errors
    /// `denied`: it is in no run, or the token is not that run's.
    pub(crate) async fn of(
        &self,
        location: Option<&Location>,
        token: &str,
    ) -> Result<Arc<Run>, Refusal> {
        let denied = |message: &str| Refusal::new(ErrorCode::Denied, message);
        let location = location.ok_or_else(|| {
            denied("the caller is in no run: tools works inside a task or a shell call that still runs")
        })?;
        if !self
            .access
            .is_token_of(&location.unit, &location.invocation, token)
        {
            return Err(denied(
                "the token is not that of the run which the caller is in",
            ));
        }
        if let Some(run) = self.known(&location.invocation) {
            return Ok(run);
        }
        let handle = self.engine.get(&location.unit);
        let handle =
            handle.filter(|handle| matches!(handle.spec().kind, UnitKind::Task | UnitKind::Shell));
        let handle = handle.ok_or_else(|| denied("the run has ended, and its token with it"))?;
        // A daemon that was started anew counts on from where the last one was.
        let kept = self.record.report(&location.unit).await;
        let kept = kept
            .map_err(|error| crate::wakes::unavailable(&error))?
            .unwrap_or_default();
        let run = Arc::new(Run::new(handle, kept));
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|_, run| self.engine.get(run.unit()).is_some());
        Ok(live
            .entry(location.invocation.clone())
            .or_insert(run)
            .clone())
    }

    fn known(&self, invocation: &InvocationId) -> Option<Arc<Run>> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(invocation).cloned()
    }

    /// Writes down how many calls a run has made; nobody waits for it.
    pub(crate) fn note(&self, run: &Run) {
        let (calls, report) = run.report();
        self.record.report_noted(run.unit(), calls, &report);
    }

    /// Writes down what a run has done so far.
    pub(crate) async fn keep(&self, run: &Run) {
        let (calls, report) = run.report();
        if let Err(error) = self.record.report_write(run.unit(), calls, &report).await {
            tracing::error!(%error, unit = %run.unit(), "what a script has done by tools is not written down");
        }
    }
}

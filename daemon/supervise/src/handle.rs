//! What others hold of a unit.

use std::{sync::Arc, time::Duration};

use harness_model::{InvocationId, Signal, SubState, Timestamp, UnitId, UnitState, UnitStatus};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    Spawner, UnitError, UnitSpec,
    waits::{Ending, Waiter, Waits},
};

/// What a handle asks of its unit's actor. An answer that never comes means that the unit came to rest.
pub(crate) enum Command {
    Stop(oneshot::Sender<Result<(), UnitError>>),
    Kill(oneshot::Sender<Result<(), UnitError>>),
    Restart(oneshot::Sender<Result<(), UnitError>>),
    ResetFailed,
    Note(String),
}

pub(crate) struct Shared {
    pub(crate) id: UnitId,
    pub(crate) spec: UnitSpec,
    pub(crate) created_at: Timestamp,
    pub(crate) state: watch::Sender<UnitState>,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) waits: Arc<Waits>,
    pub(crate) spawner: Arc<dyn Spawner>,
}

/// A unit, live or come to rest since the handle was taken.
#[derive(Clone)]
pub struct UnitHandle {
    pub(crate) shared: Arc<Shared>,
}

impl UnitHandle {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &UnitId {
        &self.shared.id
    }

    /// What it was made from.
    #[must_use]
    pub fn spec(&self) -> &UnitSpec {
        &self.shared.spec
    }

    /// When it was made.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.shared.created_at
    }

    /// Its state now.
    #[must_use]
    pub fn state(&self) -> UnitState {
        self.shared.state.borrow().clone()
    }

    /// As the API shows it.
    #[must_use]
    pub fn status(&self) -> UnitStatus {
        let spec = self.spec();
        UnitStatus {
            id: self.id().clone(),
            kind: spec.kind,
            name: spec.name.clone(),
            command: spec.command.clone(),
            cwd: spec.cwd.to_string_lossy().into_owned(),
            created_at: self.created_at(),
            settings: spec.settings.clone(),
            state: self.state(),
        }
    }

    /// Its states from now on; changes that follow each other quickly are seen as one.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<UnitState> {
        self.shared.state.subscribe()
    }

    pub(crate) fn waits(&self) -> Arc<Waits> {
        Arc::clone(&self.shared.waits)
    }

    /// Waits from now on, before anything is awaited.
    #[must_use]
    pub fn waiter(&self) -> Waiter {
        Waiter::new(self.clone())
    }

    /// Waits until the unit is at rest; `None` when `limit` passes first.
    ///
    /// While this is pending the end is *awaited*: no wake is sent for it if the [`Ending`] is delivered.
    pub async fn wait(&self, limit: Duration) -> Option<Ending> {
        self.waiter().end(limit).await
    }

    /// Waits until the unit is at rest, with no say in its wake.
    pub async fn wait_end(&self) -> UnitState {
        self.wait_until(UnitState::is_final).await
    }

    async fn wait_until(&self, wanted: impl FnMut(&UnitState) -> bool) -> UnitState {
        let mut changes = self.changes();
        // The sender lives in `shared`, so the channel cannot close.
        let state = changes.wait_for(wanted).await.map(|state| state.clone());
        state.unwrap_or_else(|_| self.state())
    }

    /// Stops it, and resolves when it is at rest. One that is at rest already is no error.
    pub async fn stop(&self) -> Result<UnitState, UnitError> {
        match self.ask(Command::Stop).await {
            Ok(()) => self.stopped().await,
            Err(error) => self.unless_at_rest(error),
        }
    }

    /// Ends everything of it with SIGKILL, so that nothing it has prepared for its end runs, and resolves when it is
    /// at rest. It is not restarted.
    pub async fn kill(&self) -> Result<UnitState, UnitError> {
        if let Err(error) = self.ask(Command::Kill).await {
            return self.unless_at_rest(error);
        }
        // A stop that was under way before is cut short.
        if let Some(invocation) = self.target(true) {
            let spawner = &self.shared.spawner;
            spawner.signal(&invocation, Signal::KILL, true).await?;
        }
        self.stopped().await
    }

    fn unless_at_rest(&self, error: UnitError) -> Result<UnitState, UnitError> {
        match error {
            UnitError::AtRest { .. } => Ok(self.state()),
            error @ (UnitError::NotRunning { .. }
            | UnitError::Superseded { .. }
            | UnitError::Spawner(_)
            | UnitError::NotStarted { .. }) => Err(error),
        }
    }

    /// A stop stays requested until the unit is at rest, unless somebody starts it again.
    async fn stopped(&self) -> Result<UnitState, UnitError> {
        let state = self
            .wait_until(|state| state.is_final() || !state.stop_requested)
            .await;
        if state.is_final() {
            return Ok(state);
        }
        Err(UnitError::Superseded {
            unit: self.id().clone(),
            what: "started",
        })
    }

    /// Stops it and starts it again; never two of it at once. Resolves when the new process exists.
    pub async fn restart(&self) -> Result<(), UnitError> {
        self.ask(Command::Restart).await
    }

    /// Forgets how often it was restarted and started: the next delay is the first one again, and the start
    /// limit counts from zero (`systemctl reset-failed`, systemctl(1)).
    pub fn reset_failed(&self) {
        // One at rest has nothing to forget.
        self.shared.commands.send(Command::ResetFailed).ok();
    }

    async fn ask(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<(), UnitError>>) -> Command,
    ) -> Result<(), UnitError> {
        let at_rest = UnitError::AtRest {
            unit: self.id().clone(),
        };
        if self.shared.state.borrow().is_final() {
            return Err(at_rest);
        }
        let (reply, answer) = oneshot::channel();
        if self.shared.commands.send(command(reply)).is_err() {
            self.wait_end().await;
            return Err(at_rest);
        }
        if let Ok(answer) = answer.await {
            return answer;
        }
        self.wait_end().await;
        Err(at_rest)
    }

    /// Signals the main process, or everything the unit runs.
    pub async fn signal(&self, signal: Signal, whole_tree: bool) -> Result<(), UnitError> {
        let Some(invocation) = self.target(whole_tree) else {
            return Err(UnitError::NotRunning {
                unit: self.id().clone(),
                sub_state: self.shared.state.borrow().sub_state,
            });
        };
        let spawner = &self.shared.spawner;
        Ok(spawner.signal(&invocation, signal, whole_tree).await?)
    }

    /// The run to signal: its main process must be there, or at least something of its tree.
    fn target(&self, whole_tree: bool) -> Option<InvocationId> {
        let state = self.shared.state.borrow();
        let left_over = matches!(
            state.sub_state,
            SubState::StopSigterm | SubState::StopSigkill
        );
        if state.pid.is_some() || whole_tree && left_over {
            state.invocation.clone()
        } else {
            None
        }
    }
}

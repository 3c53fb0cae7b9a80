//! One call, from the harness to the server and back.

use std::{sync::Arc, time::Duration};

use harness_model::{Call, CallContext, Outcome, Refusal};

use super::{
    connection::{CallFailure, ServerCall, ServerConnection},
    output, refusal,
    server::Shared,
    state::Phase,
    supervisor::Command,
};

/// How long a call that did not leave waits for the next connection to the same server.
const RECONNECT: Duration = Duration::from_secs(5);

impl Shared {
    /// The connection to call, starting the server if it has to be. However many ask at once, it is started once.
    pub(super) async fn connection(&self) -> Result<Arc<dyn ServerConnection>, Refusal> {
        let name = &self.settings.name;
        let mut states = self.state.subscribe();
        loop {
            let state = states.borrow_and_update().clone();
            let why = state.why.as_deref();
            match &state.phase {
                Phase::Ready(connection) => return Ok(Arc::clone(connection)),
                Phase::Stopped { by_person: true } => return Err(refusal::stopped(name)),
                Phase::Failed(code) => return Err(refusal::failed(name, *code, why)),
                Phase::Down | Phase::Starting { first: false } => {
                    return Err(refusal::down(name, why));
                }
                Phase::Stopped { by_person: false } => self.want(),
                Phase::Starting { first: true } => {}
            }
            if states.changed().await.is_err() {
                return Err(refusal::down(name, why));
            }
        }
    }

    /// Why none of its tools can be called, if that is so.
    pub(super) fn absence(&self) -> Option<Refusal> {
        let state = self.state.borrow();
        let (name, why) = (&self.settings.name, state.why.as_deref());
        match &state.phase {
            Phase::Ready(_) => None,
            Phase::Stopped { by_person: true } => Some(refusal::stopped(name)),
            Phase::Failed(code) => Some(refusal::failed(name, *code, why)),
            Phase::Stopped { by_person: false } | Phase::Down | Phase::Starting { .. } => {
                Some(refusal::down(name, why))
            }
        }
    }

    /// Has the server started unless it is there.
    pub(super) fn want(&self) {
        // The supervisor ends with the server, and then the state says so.
        self.commands.send(Command::Wanted).ok();
    }

    pub(super) async fn call(&self, call: &Call, context: &CallContext) -> Outcome {
        let mut connection = self.connection().await?;
        let mut outcome = self.call_over(&connection, call, context).await;
        // It did not leave, so it may leave again: the server ended a session, or died a moment ago.
        if matches!(outcome, Err(CallFailure::NotSent(_))) && self.replaced(&connection).await {
            connection = self.connection().await?;
            outcome = self.call_over(&connection, call, context).await;
        }
        match outcome {
            Ok(result) => Ok(output::of(result)),
            Err(failure) => {
                let stderr = match &failure {
                    CallFailure::Lost(_) | CallFailure::NotSent(_) => self.stderr_tail(),
                    CallFailure::Answered { .. }
                    | CallFailure::Unauthorized(_)
                    | CallFailure::Unreadable(_) => None,
                };
                Err(refusal::of(&self.settings.name, failure, stderr))
            }
        }
    }

    async fn call_over(
        &self,
        connection: &Arc<dyn ServerConnection>,
        call: &Call,
        context: &CallContext,
    ) -> Result<serde_json::Value, CallFailure> {
        let in_flight = self.activity.begin();
        let outcome = connection
            .call(ServerCall {
                tool: call.tool.clone(),
                arguments: call.input.clone(),
                meta: context.meta.clone(),
                progress: context.progress.clone(),
            })
            .await;
        in_flight.answered();
        outcome
    }

    /// Whether another connection takes the place of this one in time.
    async fn replaced(&self, connection: &Arc<dyn ServerConnection>) -> bool {
        let mut states = self.state.subscribe();
        let other = states.wait_for(|state| !state.is_served_by(connection));
        tokio::time::timeout(RECONNECT, other).await.is_ok()
    }
}

//! A call that is asked about: held for the answer, then let through, refused, or told to come back.

use std::{
    sync::PoisonError,
    time::{Duration, SystemTime},
};

use harness_authorize::Evaluation;
use harness_model::{
    Approval, ApprovalId, ApprovalState, Call, CallContext, ErrorCode, EventBody, Progress,
    Question, Refusal, Timestamp,
};
use harness_record::Asked;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, timeout_at},
};

use super::{Approvals, Elicitation, digest::digest};

/// How often a client is told that its call still waits: clients give up on silence.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// How long a question stands and a call is held for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// `[approval] timeout_sec`
    pub(crate) timeout: Duration,
    /// `[approval] hold_sec`
    pub(crate) hold: Duration,
}

impl Approvals {
    /// Asks a person, unless they have answered this exact call before; `Ok` lets the call through.
    pub(crate) async fn ask(
        &self,
        call: &Call,
        evaluation: &Evaluation,
        cwd: String,
        context: &CallContext,
        patience: Patience,
        elicitation: Option<Elicitation>,
    ) -> Result<(), Refusal> {
        let now = Timestamp::from(SystemTime::now());
        let mut question = question(call, evaluation, cwd, context, now, patience);
        self.redactor.question(&mut question);
        let asked = self.record.approval_ask(question, now).await;
        let asked = asked.map_err(|error| crate::wakes::unavailable(&error))?;
        let approval = match asked {
            Asked::Granted(_) => return Ok(()),
            Asked::Rejected(id) => return Err(rejected(id)),
            Asked::Pending(approval) => approval,
            Asked::New(approval) => {
                self.bus
                    .publish(EventBody::ApprovalRequested(approval.clone()));
                self.asked.send_replace(());
                approval
            }
        };
        let elicitation = elicitation.as_ref();
        if self.elicit_deferred(&approval, elicitation).await {
            return Err(needs_approval(&approval));
        }
        let state = tokio::select! {
            biased;
            state = self.hold(approval.id, context, patience.hold) => state,
            never = self.elicit_held(&approval, elicitation) => match never {},
        };
        match state {
            ApprovalState::Allowed => match self.record.approval_use(approval.id).await {
                Ok(true) => Ok(()),
                // Another call of the same text was faster.
                Ok(false) => Err(needs_approval(&approval)),
                Err(error) => Err(crate::wakes::unavailable(&error)),
            },
            ApprovalState::Rejected | ApprovalState::Expired => Err(rejected(approval.id)),
            ApprovalState::Pending | ApprovalState::Used => Err(needs_approval(&approval)),
        }
    }

    /// Asks about a call that will be made later: a yes that is there is left for it.
    pub(crate) async fn ask_ahead(
        &self,
        call: &Call,
        evaluation: &Evaluation,
        cwd: String,
        context: &CallContext,
        patience: Patience,
    ) -> Result<(), Refusal> {
        let now = Timestamp::from(SystemTime::now());
        let granted = self
            .record
            .approval_is_granted(&digest(call, &cwd), now)
            .await;
        if granted.map_err(|error| crate::wakes::unavailable(&error))? {
            return Ok(());
        }
        // The client would take the form for one about the call that it has made.
        self.ask(call, evaluation, cwd, context, patience, None)
            .await
    }

    /// Waits for the answer, telling the client that it waits.
    async fn hold(&self, id: ApprovalId, context: &CallContext, hold: Duration) -> ApprovalState {
        let mut answer = self.waiter(id);
        // The answer may have come between the question and this.
        if let Ok(Some(approval)) = self.record.approval(id).await
            && approval.state != ApprovalState::Pending
        {
            return approval.state;
        }
        let deadline = Instant::now() + hold;
        let mut ticks = interval(PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = 0.0;
        loop {
            let answered = answer.wait_for(|state| *state != ApprovalState::Pending);
            tokio::select! {
                answered = timeout_at(deadline, answered) => {
                    return match answered {
                        Ok(Ok(state)) => *state,
                        Ok(Err(_)) | Err(_) => ApprovalState::Pending,
                    };
                }
                _ = ticks.tick() => {
                    if let Some(progress) = &context.progress {
                        let message = Some(format!("waiting for a person to answer approval {id}"));
                        progress(Progress { progress: told, total: None, message });
                        told += 1.0;
                    }
                }
            }
        }
    }

    fn waiter(&self, id: ApprovalId) -> watch::Receiver<ApprovalState> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // What nobody waits for any more makes room.
        held.retain(|known, sender| *known == id || sender.receiver_count() > 0);
        held.entry(id)
            .or_insert_with(|| watch::Sender::new(ApprovalState::Pending))
            .subscribe()
    }
}

fn question(
    call: &Call,
    evaluation: &Evaluation,
    cwd: String,
    context: &CallContext,
    now: Timestamp,
    patience: Patience,
) -> Question {
    let rule = evaluation
        .deciding()
        .map_or_else(String::new, |rule| format!("{} {}", rule.layer, rule.rule));
    Question {
        digest: digest(call, &cwd),
        approval: Approval {
            id: ApprovalId(0),
            call: call.id.clone(),
            front: context.front,
            group: call.group.clone(),
            tool: call.tool.clone(),
            input: call.input.clone(),
            cwd,
            rule,
            why: evaluation
                .why
                .map_or("policy", harness_authorize::Why::as_str)
                .to_owned(),
            scope: evaluation.scope.clone(),
            state: ApprovalState::Pending,
            created_at: now,
            expires_at: now.plus(patience.timeout),
            answered_by: None,
        },
    }
}

fn rejected(id: ApprovalId) -> Refusal {
    let message =
        format!("a person rejected this call (approval {id}): do something else, or ask them");
    Refusal::new(ErrorCode::Denied, message).with_details(json!({ "approval": id }))
}

fn needs_approval(approval: &Approval) -> Refusal {
    let message = format!(
        "a person has to answer approval {} first ({}): make the same call again after that",
        approval.id, approval.rule
    );
    Refusal::new(ErrorCode::NeedsApproval, message)
        .with_details(json!({ "approval": approval.id }))
        .retryable()
}

//! The way of one call: resolve, validate, record, authorize, execute, record, publish.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use harness_authorize::{Decision, Evaluation, authorize};
use harness_model::{
    Call, CallContext, CallId, CallRecord, CallRequest, CallState, ErrorCode, EventBody, Outcome,
    Refusal, Timestamp, Tool,
};
use harness_publish::Bus;
use harness_record::{Record, excerpt};
use serde_json::{Map, Value, json};

use crate::{approvals::Elicitation, catalogue::Entry, harness::Harness, redact::Redactor};

impl Harness {
    /// Carries a call through, or records why it is not `admissible`; for [`Harness::call`] alone.
    pub(crate) async fn carry_out(
        &self,
        request: CallRequest,
        context: CallContext,
        admissible: Result<(), Refusal>,
    ) -> Outcome {
        let opening = Opening::now(&request, &context, self.redactor());
        let resolved = admissible.and_then(|()| self.resolve(request, opening.record.id.clone()));
        let open = self.begin(opening, &resolved).await?;
        let outcome = self.within_hooks(resolved, &context, &open).await;
        open.finish(&outcome);
        outcome
    }

    /// Which tool is meant, and whether the input fits it.
    pub(crate) fn resolve(&self, request: CallRequest, id: CallId) -> Result<Resolved, Refusal> {
        let entry = self.find(&request)?;
        let input = entry.fit(request.input)?;
        let call = Call {
            id,
            group: entry.tool.group.clone(),
            tool: entry.tool.name.clone(),
            input,
            started_at: Timestamp::from(std::time::SystemTime::now()),
            allowance: None,
        };
        Ok(Resolved { entry, call })
    }

    /// Carries the call out, if it is let through: the part of a call that its hooks stand around.
    pub(crate) async fn judge_and_execute(
        &self,
        resolved: &mut Resolved,
        context: &CallContext,
    ) -> Result<Outcome, Refusal> {
        let Resolved { entry, call } = resolved;
        self.rate(&entry.tool).await;
        let evaluation = self.evaluate(&entry.tool, call);
        match evaluation.decision {
            Decision::Allow => call.allowance = evaluation.allowance,
            Decision::Ask => self.answered(call, &evaluation, context).await?,
            Decision::Deny => return Err(denied(&evaluation, call)),
        }
        self.may_start(call, context).await?;
        Ok(entry.group.execute(call, context).await)
    }

    /// What the rules, the answers for good and the rater say about a call.
    pub(crate) fn evaluate(&self, tool: &Tool, call: &Call) -> Evaluation {
        let grants = self.approvals().grants();
        let rating = self.rating(tool);
        authorize(
            &self.in_force().policy,
            tool,
            call,
            &grants,
            rating.as_ref(),
        )
    }

    /// Lets the call through once a person has said yes.
    async fn answered(
        &self,
        call: &Call,
        evaluation: &Evaluation,
        context: &CallContext,
    ) -> Result<(), Refusal> {
        let (cwd, patience) = (self.cwd_of(call), self.patience(context.front));
        let elicitation = self.elicitation(context, patience.timeout);
        self.approvals()
            .ask(call, evaluation, cwd, context, patience, elicitation)
            .await
    }

    /// How the caller's own client is asked, where it can be and the configuration admits it.
    fn elicitation(&self, context: &CallContext, timeout: Duration) -> Option<Elicitation> {
        let asker = context.elicit.clone()?;
        if !self.in_force().loaded.config.approval.elicitation {
            return None;
        }
        let client = self.sessions().client(&context.session);
        let by = Elicitation::answered_by(context.session.as_str(), client.as_deref(), context.uid);
        Some(Elicitation { asker, by, timeout })
    }

    /// Where a call works: the workspace, or what it says relative to it.
    pub(crate) fn cwd_of(&self, call: &Call) -> String {
        let workspace = &self.in_force().loaded.workspace;
        let cwd = call.input.get("cwd").and_then(Value::as_str);
        let cwd = cwd.map_or_else(|| workspace.clone(), |cwd| workspace.join(cwd));
        // Without the `.` that stands for the workspace itself.
        cwd.components().collect::<PathBuf>().display().to_string()
    }

    /// Writes the call down before anything is done for it, hooks included.
    ///
    /// A record that cannot be written (a full disk) refuses what could do harm; looking at a task and
    /// ending one go on, or nobody could end what fills the disk.
    async fn begin(
        &self,
        mut opening: Opening,
        resolved: &Result<Resolved, Refusal>,
    ) -> Result<OpenCall, Refusal> {
        if let Ok(Resolved { entry, call }) = resolved {
            opening.record.group.clone_from(&entry.tool.group);
            opening.record.tool.clone_from(&entry.tool.name);
            opening.record.input = recorded(&call.input, self.redactor());
        }
        let written = self.record().call_begin(opening.record.clone()).await;
        if let Err(error) = &written {
            unrecorded(error, resolved.as_ref().ok(), &opening.record.id)?;
        }
        let open = OpenCall {
            call: opening.record,
            begun: opening.begun,
            record: written.is_ok().then(|| self.record().clone()),
            bus: self.bus().clone(),
            redactor: self.redactor().clone(),
            finished: false,
        };
        open.announce(open.call.input.clone(), None);
        Ok(open)
    }
}

/// A call whose tool is known and whose input fits it.
pub(crate) struct Resolved {
    pub(crate) entry: Arc<Entry>,
    pub(crate) call: Call,
}

impl Resolved {
    /// It destroys nothing, by its author's word.
    fn is_harmless(&self) -> bool {
        let says = &self.entry.tool.annotations;
        says.destructive_hint == Some(false) || says.read_only_hint == Some(true)
    }
}

/// What cannot be written down is not done, unless it is harmless.
fn unrecorded(
    error: &harness_record::Error,
    resolved: Option<&Resolved>,
    call: &CallId,
) -> Result<(), Refusal> {
    if !resolved.is_some_and(Resolved::is_harmless) {
        let message = format!("the call cannot be recorded, so it is not made: {error}");
        return Err(Refusal::new(ErrorCode::Unavailable, message).retryable());
    }
    tracing::error!(%error, %call, "a call runs unrecorded");
    Ok(())
}

/// The refusal names the rule and what would change it.
fn denied(evaluation: &Evaluation, call: &Call) -> Refusal {
    let (rule, remedy) = evaluation.deciding().map_or_else(
        || (String::new(), String::new()),
        |rule| (format!("{} {}", rule.layer, rule.rule), rule.remedy.clone()),
    );
    let message = format!("{}/{} is refused ({rule}): {remedy}", call.group, call.tool);
    let refusal = Refusal::new(ErrorCode::Denied, message);
    if call.group == "shell" {
        return refusal.with_details(json!({ "code": "ETOOL_DISABLED" }));
    }
    refusal
}

/// An input as the record and the events have it: without secrets, and cut when it is long.
fn recorded(input: &Map<String, Value>, redactor: &Redactor) -> Value {
    let mut input = Value::Object(input.clone());
    redactor.value(&mut input);
    excerpt(&input)
}

/// A call as it came in.
struct Opening {
    record: CallRecord,
    begun: Instant,
}

impl Opening {
    fn now(request: &CallRequest, context: &CallContext, redactor: &Redactor) -> Self {
        let record = CallRecord {
            id: context.call.clone().unwrap_or_else(CallId::generate),
            parent: context.parent.clone(),
            session: context.session.clone(),
            front: context.front,
            group: request.group.clone().unwrap_or_default(),
            tool: request.tool.clone(),
            input: recorded(&request.input, redactor),
            asked: None,
            state: CallState::Open,
            code: None,
            preview: None,
            started_at: Timestamp::from(std::time::SystemTime::now()),
            duration_usec: None,
        };
        Self {
            record,
            begun: Instant::now(),
        }
    }
}

/// A recorded call that has no answer yet. Dropped without one, its client took it back.
pub(crate) struct OpenCall {
    call: CallRecord,
    begun: Instant,
    record: Option<Record>,
    bus: Bus,
    redactor: Redactor,
    finished: bool,
}

impl OpenCall {
    /// Writes down what hooks have made of the input, before it is carried out.
    pub(crate) async fn rewritten(&self, resolved: &Resolved) -> Result<(), Refusal> {
        let (id, input) = (
            &self.call.id,
            recorded(&resolved.call.input, &self.redactor),
        );
        if let Some(record) = &self.record {
            let written = record.call_rewritten(id.clone(), input.clone()).await;
            if let Err(error) = written {
                unrecorded(&error, Some(resolved), id)?;
            }
        }
        self.announce(input, Some(self.call.input.clone()));
        Ok(())
    }

    fn announce(&self, input: Value, asked: Option<Value>) {
        self.bus.publish(EventBody::ToolCall {
            call: self.call.id.clone(),
            parent: self.call.parent.clone(),
            front: self.call.front,
            group: self.call.group.clone(),
            tool: self.call.tool.clone(),
            input,
            asked,
        });
    }

    fn finish(mut self, outcome: &Outcome) {
        let (state, code) = standing(outcome);
        let preview = match outcome {
            Ok(output) => output.text(),
            Err(refusal) => refusal.message.clone(),
        };
        let preview = self.redactor.text(preview).chars().take(1000).collect();
        self.close(state, code, Some(preview));
    }

    fn close(&mut self, state: CallState, code: Option<ErrorCode>, preview: Option<String>) {
        self.finished = true;
        let duration_usec = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(record) = &self.record {
            record.call_finish(self.call.id.clone(), state, code, preview, duration_usec);
        }
        self.bus.publish(EventBody::ToolResult {
            call: self.call.id.clone(),
            state,
            code,
            duration_usec,
        });
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if !self.finished {
            self.close(CallState::Cancelled, None, None);
        }
    }
}

/// Where a call stands that ended so.
pub(crate) fn standing(outcome: &Outcome) -> (CallState, Option<ErrorCode>) {
    match outcome {
        Ok(output) if output.is_error => (CallState::Failed, Some(ErrorCode::ToolError)),
        Ok(_) => (CallState::Ok, None),
        Err(refusal) if refusal.code == ErrorCode::ToolError => {
            (CallState::Failed, Some(refusal.code))
        }
        Err(refusal) if refusal.code == ErrorCode::OutcomeUnknown => {
            (CallState::OutcomeUnknown, Some(refusal.code))
        }
        Err(refusal) => (CallState::Refused, Some(refusal.code)),
    }
}

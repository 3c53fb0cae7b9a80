//! The way of one call: resolve, validate, authorize, record, execute, record, publish.

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

use crate::{
    approvals::{Admission, Elicitation},
    catalogue::Entry,
    harness::Harness,
    redact::Redactor,
};

impl Harness {
    /// Carries a call through, or records why it is not `admissible`; for [`Harness::call`] alone.
    pub(crate) async fn carry_out(
        &self,
        request: CallRequest,
        context: CallContext,
        admissible: Result<(), Refusal>,
    ) -> Outcome {
        let opening = Opening::now(&request, &context, self.redactor());
        let admitted = admissible.and_then(|()| self.admit(request, &opening));
        let open = self.begin(opening, &admitted).await?;
        let outcome = match self.answered(admitted, &context).await {
            Ok((entry, call)) => entry.group.execute(&call, &context).await,
            Err(refusal) => Err(refusal),
        };
        open.finish(&outcome);
        outcome
    }

    /// Which tool is meant, whether the input fits it, and whether it may run.
    fn admit(&self, request: CallRequest, opening: &Opening) -> Result<Admission, Refusal> {
        let entry = self.catalogue().resolve(&request)?;
        let input = entry.validate(request.input)?;
        let input = entry.group.prepare(&entry.tool.name, input)?;
        let mut call = Call {
            id: opening.record.id.clone(),
            group: entry.tool.group.clone(),
            tool: entry.tool.name.clone(),
            input,
            started_at: opening.record.started_at,
            allowance: None,
        };
        let evaluation = self.evaluate(&entry.tool, &call);
        let question = match evaluation.decision {
            Decision::Allow => {
                call.allowance = evaluation.allowance;
                None
            }
            Decision::Ask => Some(evaluation),
            Decision::Deny => return Err(denied(&evaluation, &call)),
        };
        Ok(Admission {
            entry,
            call,
            question,
        })
    }

    /// What the rules and the answers for good say about a call.
    pub(crate) fn evaluate(&self, tool: &Tool, call: &Call) -> Evaluation {
        let grants = self.approvals().grants();
        authorize(&self.in_force().policy, tool, call, &grants, false)
    }

    /// Lets the call through, once a person has said yes if one has to.
    async fn answered(
        &self,
        admitted: Admitted,
        context: &CallContext,
    ) -> Result<(Arc<Entry>, Call), Refusal> {
        let admission = admitted?;
        if let Some(evaluation) = &admission.question {
            let cwd = self.cwd_of(&admission.call);
            let patience = self.patience();
            let elicitation = self.elicitation(context, patience.timeout);
            self.approvals()
                .ask(
                    &admission.call,
                    evaluation,
                    cwd,
                    context,
                    patience,
                    elicitation,
                )
                .await?;
        }
        Ok((admission.entry, admission.call))
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
    fn cwd_of(&self, call: &Call) -> String {
        let workspace = &self.in_force().loaded.workspace;
        let cwd = call.input.get("cwd").and_then(Value::as_str);
        let cwd = cwd.map_or_else(|| workspace.clone(), |cwd| workspace.join(cwd));
        // Without the `.` that stands for the workspace itself.
        cwd.components().collect::<PathBuf>().display().to_string()
    }

    /// Writes the call down before it runs.
    ///
    /// A record that cannot be written (a full disk) refuses what could do harm; looking at a task and
    /// ending one go on, or nobody could end what fills the disk.
    async fn begin(&self, mut opening: Opening, admitted: &Admitted) -> Result<OpenCall, Refusal> {
        if let Ok(Admission { entry, call, .. }) = admitted {
            opening.record.group.clone_from(&entry.tool.group);
            opening.record.tool.clone_from(&entry.tool.name);
            opening.record.input = recorded(&call.input, self.redactor());
        }
        let written = self.record().call_begin(opening.record.clone()).await;
        if let Err(error) = &written {
            let harmless = matches!(admitted, Ok(Admission { entry, .. }) if entry.tool.annotations.destructive_hint == Some(false)
                || entry.tool.annotations.read_only_hint == Some(true));
            if !harmless {
                let message = format!("the call cannot be recorded, so it is not made: {error}");
                return Err(Refusal::new(ErrorCode::Unavailable, message).retryable());
            }
            tracing::error!(%error, call = %opening.record.id, "a call runs unrecorded");
        }
        self.bus().publish(EventBody::ToolCall {
            call: opening.record.id.clone(),
            parent: opening.record.parent.clone(),
            front: opening.record.front,
            group: opening.record.group.clone(),
            tool: opening.record.tool.clone(),
            input: opening.record.input,
        });
        Ok(OpenCall {
            id: opening.record.id,
            begun: opening.begun,
            record: written.is_ok().then(|| self.record().clone()),
            bus: self.bus().clone(),
            redactor: self.redactor().clone(),
            finished: false,
        })
    }
}

type Admitted = Result<Admission, Refusal>;

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
struct OpenCall {
    id: CallId,
    begun: Instant,
    record: Option<Record>,
    bus: Bus,
    redactor: Redactor,
    finished: bool,
}

impl OpenCall {
    fn finish(mut self, outcome: &Outcome) {
        let (state, code, preview) = match outcome {
            Ok(output) if output.is_error => (
                CallState::Failed,
                Some(ErrorCode::ToolError),
                Some(output.text()),
            ),
            Ok(output) => (CallState::Ok, None, Some(output.text())),
            Err(refusal) if refusal.code == ErrorCode::ToolError => (
                CallState::Failed,
                Some(refusal.code),
                Some(refusal.message.clone()),
            ),
            Err(refusal) => (
                CallState::Refused,
                Some(refusal.code),
                Some(refusal.message.clone()),
            ),
        };
        self.close(
            state,
            code,
            preview.map(|text| self.redactor.text(text).chars().take(1000).collect()),
        );
    }

    fn close(&mut self, state: CallState, code: Option<ErrorCode>, preview: Option<String>) {
        self.finished = true;
        let duration_usec = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(record) = &self.record {
            record.call_finish(self.id.clone(), state, code, preview, duration_usec);
        }
        self.bus.publish(EventBody::ToolResult {
            call: self.id.clone(),
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

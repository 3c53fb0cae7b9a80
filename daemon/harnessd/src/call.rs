//! The way of one call: resolve, validate, authorize, record, execute, record, publish.

use std::{sync::Arc, time::Instant};

use harness_authorize::{Decision, Evaluation, authorize};
use harness_model::{
    Call, CallContext, CallId, CallRecord, CallRequest, CallState, ErrorCode, EventBody, Outcome,
    Refusal, Timestamp,
};
use harness_publish::Bus;
use harness_record::{Record, excerpt};
use serde_json::{Map, Value};

use crate::{catalogue::Entry, harness::Harness, redact::Redactor};

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
        let outcome = match admitted {
            Ok((entry, call)) => entry.group.execute(&call, &context).await,
            Err(refusal) => Err(refusal),
        };
        open.finish(&outcome);
        outcome
    }

    /// Which tool is meant, whether the input fits it, and whether it may run.
    fn admit(
        &self,
        request: CallRequest,
        opening: &Opening,
    ) -> Result<(Arc<Entry>, Call), Refusal> {
        let entry = self.catalogue().resolve(&request)?;
        let input = entry.validate(request.input)?;
        let input = entry.group.prepare(&entry.tool.name, input)?;
        let call = Call {
            id: opening.record.id.clone(),
            group: entry.tool.group.clone(),
            tool: entry.tool.name.clone(),
            input,
            started_at: opening.record.started_at,
        };
        permit(
            &authorize(&self.in_force().policy, &entry.tool, &call),
            &call,
        )?;
        Ok((entry, call))
    }

    /// Writes the call down before it runs.
    ///
    /// A record that cannot be written (a full disk) refuses what could do harm; looking at a task and
    /// ending one go on, or nobody could end what fills the disk.
    async fn begin(&self, mut opening: Opening, admitted: &Admitted) -> Result<OpenCall, Refusal> {
        if let Ok((entry, call)) = admitted {
            opening.record.group.clone_from(&entry.tool.group);
            opening.record.tool.clone_from(&entry.tool.name);
            opening.record.input = recorded(&call.input, self.redactor());
        }
        let written = self.record().call_begin(opening.record.clone()).await;
        if let Err(error) = &written {
            let harmless = matches!(admitted, Ok((entry, _)) if entry.tool.annotations.destructive_hint == Some(false)
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

type Admitted = Result<(Arc<Entry>, Call), Refusal>;

/// The evaluation as a yes, or as the refusal that names the rule.
fn permit(evaluation: &Evaluation, call: &Call) -> Result<(), Refusal> {
    let rule = evaluation
        .deciding()
        .map_or("no rule allows it", |rule| rule.layer);
    match evaluation.decision {
        Decision::Allow => Ok(()),
        Decision::Ask => {
            let message = format!(
                "{}/{} needs a person's answer ({rule})",
                call.group, call.tool
            );
            Err(Refusal::new(ErrorCode::NeedsApproval, message))
        }
        Decision::Deny => {
            let message = format!(
                "{}/{} is switched off ({rule}): add the group to tool_groups",
                call.group, call.tool
            );
            Err(Refusal::new(ErrorCode::Denied, message))
        }
    }
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

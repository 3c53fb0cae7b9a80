//! One run: how many calls it has made, and what they did.

use std::sync::{Mutex, MutexGuard, PoisonError};

use harness_model::{
    CallId, ErrorCode, NestedCall, Outcome, Refusal, ScriptStop, SessionId, StoppedCall, Tool,
    ToolsReport, UnitId,
};
use harness_record::excerpt;
use harness_supervise::UnitHandle;
use serde_json::{Map, Value, json};

/// What is left of a stopped script.
pub(crate) const NOT_REACHED: &str =
    "the stopped call and everything after it; write a new script for the rest";

/// The characters of a result that a report keeps.
const RESULT: usize = 2000;

/// A script that calls.
pub(crate) struct Run {
    handle: UnitHandle,
    session: SessionId,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    calls: u32,
    report: ToolsReport,
}

impl Run {
    pub(super) fn new(handle: UnitHandle, (calls, report): (u32, ToolsReport)) -> Self {
        Self {
            handle,
            session: SessionId::generate(),
            progress: Mutex::new(Progress { calls, report }),
        }
    }

    pub(crate) fn unit(&self) -> &UnitId {
        self.handle.id()
    }

    pub(crate) fn handle(&self) -> &UnitHandle {
        &self.handle
    }

    /// The call that runs the script.
    pub(crate) fn call(&self) -> Option<CallId> {
        self.handle.spec().call.clone()
    }

    /// The loop breaker counts each script for itself.
    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// How many calls it has made, and what they did.
    pub(crate) fn report(&self) -> (u32, ToolsReport) {
        let progress = self.progress();
        (progress.calls, progress.report.clone())
    }

    /// Counts a call, unless the script was stopped or has made `most` already. 0 is no limit.
    pub(crate) fn count(&self, most: u32) -> Result<(), Refusal> {
        let mut progress = self.progress();
        if let Some(stop) = &progress.report.stopped {
            let message = format!("an earlier call stopped this script: {}", stop.call.tool);
            return Err(Refusal::new(ErrorCode::Stopped, message));
        }
        if most != 0 && progress.calls >= most {
            let message =
                format!("a script may make {most} calls ([limits] script_calls), and this one has");
            return Err(Refusal::new(ErrorCode::CallLimit, message));
        }
        progress.calls += 1;
        Ok(())
    }

    /// Notes what became of a call; true when somebody has to know it if the script fails later.
    pub(crate) fn done(&self, tool: &Tool, input: &Map<String, Value>, outcome: &Outcome) -> bool {
        let mut progress = self.progress();
        let report = &mut progress.report;
        let ran = !matches!(outcome, Err(refusal) if !may_have_run(refusal.code));
        if !ran {
            return false;
        }
        if tool.annotations.read_only_hint == Some(true) {
            report.read_only_calls += 1;
            return false;
        }
        report.done.push(NestedCall {
            tool: command(tool),
            input: excerpt(&Value::Object(input.clone())),
            ok: matches!(outcome, Ok(output) if !output.is_error),
            result: result(outcome),
        });
        true
    }

    /// Notes the call that stops the script; false when another one has stopped it already.
    pub(crate) fn stop(&self, tool: String, input: &Map<String, Value>, refusal: &Refusal) -> bool {
        let mut progress = self.progress();
        if progress.report.stopped.is_some() {
            return false;
        }
        let approval = refusal
            .details
            .as_ref()
            .and_then(|details| details.get("approval"));
        progress.report.stopped = Some(ScriptStop {
            reason: refusal.code,
            approval: approval.and_then(|id| serde_json::from_value(id.clone()).ok()),
            before_start: false,
            call: StoppedCall {
                tool,
                input: excerpt(&Value::Object(input.clone())),
            },
            line: None,
        });
        progress.report.not_reached = Some(NOT_REACHED.to_owned());
        true
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tool as the command that calls it.
pub(crate) fn command(tool: &Tool) -> String {
    format!("tools {} {}", tool.group, tool.name)
}

/// Whether a call that was answered so may have done something.
fn may_have_run(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ToolError | ErrorCode::OutcomeUnknown)
}

fn result(outcome: &Outcome) -> Value {
    let cut = |text: &str| Value::String(text.chars().take(RESULT).collect());
    match outcome {
        Ok(output) => match &output.structured {
            Some(structured) => excerpt(structured),
            None => cut(&output.text()),
        },
        Err(refusal) => json!({ "code": refusal.code, "message": refusal.message }),
    }
}

//! What a script's calls would meet at the gate, and the scripts that do not start because of it.

use std::sync::Arc;

use harness_authorize::{
    Decision, Evaluation, Why,
    plan::{Plan, Planned, PlannedCall, plan},
};
use harness_model::{
    Call, CallContext, CallId, ErrorCode, Refusal, ScriptStop, StoppedCall, Tool, ToolsReport,
};
use serde_json::{Map, Value, json};

use crate::{
    call::Resolved,
    front::tools::Names,
    harness::Harness,
    runs::{self, NOT_REACHED},
};

/// The tools whose input is a script: group, name.
const SCRIPTS: [(&str, &str); 2] = [("bash", "run"), ("shell", "shell")];

/// What a planned call would meet.
enum Risk {
    ReadOnly,
    Changes,
    NeedsApproval(Option<Why>),
    Blocked(String),
    CheckedAtRunTime,
}

impl Harness {
    /// The calls that a script would make, as JSON: `{"calls":[{tool,input,risk,why?,where,line}],"complete":…}`.
    pub(crate) fn plan(&self, script: &str) -> Value {
        let Plan { calls, complete } = self.read_plan(script);
        let calls: Vec<Value> = calls.iter().map(|call| self.shown(call)).collect();
        json!({ "calls": calls, "complete": complete })
    }

    fn read_plan(&self, script: &str) -> Plan {
        let in_force = self.in_force();
        let names = Names {
            catalogue: self.catalogue(),
            policy: &in_force.policy,
        };
        plan(script, &names)
    }

    fn shown(&self, call: &PlannedCall) -> Value {
        let (tool, input) = match &call.what {
            Planned::Call { tool, input } => (runs::command(tool), Value::Object(input.clone())),
            Planned::Tool(tool) => (runs::command(tool), Value::Null),
            Planned::Words(words) | Planned::Refused(words, _) => (words.clone(), Value::Null),
        };
        let (risk, why) = match self.risk(call) {
            Risk::ReadOnly => ("read_only", None),
            Risk::Changes => ("changes", None),
            Risk::NeedsApproval(why) => ("needs_approval", why.map(|why| why.as_str().to_owned())),
            Risk::Blocked(why) => ("blocked", Some(why)),
            Risk::CheckedAtRunTime => ("checked_at_run_time", None),
        };
        let mut shown =
            json!({ "tool": tool, "risk": risk, "where": call.place, "line": call.line });
        if !input.is_null() {
            shown["input"] = input;
        }
        if let Some(why) = why {
            shown["why"] = why.into();
        }
        shown
    }

    fn risk(&self, call: &PlannedCall) -> Risk {
        match &call.what {
            Planned::Call { tool, input } => match self.judged(tool, input.clone()) {
                Ok((_, evaluation)) => match evaluation.decision {
                    Decision::Allow if tool.annotations.read_only_hint == Some(true) => {
                        Risk::ReadOnly
                    }
                    Decision::Allow => Risk::Changes,
                    Decision::Ask => Risk::NeedsApproval(evaluation.why),
                    Decision::Deny => Risk::Blocked(why_denied(&evaluation)),
                },
                Err(refusal) => Risk::Blocked(refusal.message),
            },
            Planned::Tool(_) | Planned::Words(_) => Risk::CheckedAtRunTime,
            Planned::Refused(_, refusal) => Risk::Blocked(refusal.message.clone()),
        }
    }

    /// A call as it would be made, and what the gate says of it.
    fn judged(
        &self,
        tool: &Arc<Tool>,
        input: Map<String, Value>,
    ) -> Result<(Call, Evaluation), Refusal> {
        let request = harness_model::CallRequest {
            group: Some(tool.group.clone()),
            tool: tool.name.clone(),
            input,
        };
        let Resolved { entry, call } = self.resolve(request, CallId::generate())?;
        let evaluation = self.evaluate(&entry.tool, &call);
        Ok((call, evaluation))
    }

    /// A script with a call that is written out in full, is certain to be made and needs a person's answer does not start: the
    /// person is asked, and nothing is half done meanwhile.
    ///
    /// # Errors
    /// `needs_approval`, or `denied` where they said no; the details say `tools.stopped.before_start`.
    pub(crate) async fn may_start(
        &self,
        script: &Call,
        context: &CallContext,
    ) -> Result<(), Refusal> {
        if !SCRIPTS.contains(&(script.group.as_str(), script.tool.as_str())) {
            return Ok(());
        }
        let text = script
            .input
            .get("cmd")
            .and_then(Value::as_str)
            .unwrap_or_default();
        // Most scripts have no such call, and this is all they pay for it.
        if !text.contains("tools") {
            return Ok(());
        }
        let mut stop: Option<(ScriptStop, Refusal)> = None;
        for planned in self
            .read_plan(text)
            .calls
            .into_iter()
            .filter(|call| call.is_certain)
        {
            let Planned::Call { tool, input } = &planned.what else {
                continue;
            };
            let Ok((call, evaluation)) = self.judged(tool, input.clone()) else {
                continue;
            };
            if evaluation.decision != Decision::Ask {
                continue;
            }
            let cwd = self.cwd_of(&call);
            let patience = self.patience(harness_model::Front::Tools);
            let asked = self
                .approvals()
                .ask_ahead(&call, &evaluation, cwd, context, patience)
                .await;
            if let Err(refusal) = asked {
                let stopped = stopped(&planned, tool, input, &refusal);
                // All are asked at once; the first one is named.
                stop.get_or_insert((stopped, refusal));
            }
        }
        stop.map_or(Ok(()), |(stop, refusal)| Err(not_started(stop, &refusal)))
    }
}

fn stopped(
    planned: &PlannedCall,
    tool: &Tool,
    input: &Map<String, Value>,
    refusal: &Refusal,
) -> ScriptStop {
    let approval = refusal
        .details
        .as_ref()
        .and_then(|details| details.get("approval"));
    ScriptStop {
        reason: refusal.code,
        approval: approval.and_then(|id| serde_json::from_value(id.clone()).ok()),
        before_start: true,
        call: StoppedCall {
            tool: runs::command(tool),
            input: Value::Object(input.clone()),
        },
        line: Some(planned.line),
    }
}

fn not_started(stop: ScriptStop, refusal: &Refusal) -> Refusal {
    let how = if stop.reason == ErrorCode::NeedsApproval {
        "needs an answer first"
    } else {
        "is refused"
    };
    let message = format!(
        "the script was not started: its call `{}` {how}: {}",
        stop.call.tool, refusal.message
    );
    let mut details = json!({});
    if let Some(approval) = stop.approval {
        details["approval"] = json!(approval);
    }
    let report = ToolsReport {
        stopped: Some(stop),
        not_reached: Some(NOT_REACHED.to_owned()),
        ..ToolsReport::default()
    };
    details["tools"] = json!(report);
    Refusal {
        details: Some(details),
        message,
        ..refusal.clone()
    }
}

fn why_denied(evaluation: &Evaluation) -> String {
    evaluation.deciding().map_or_else(
        || "refused".to_owned(),
        |rule| format!("{} {}", rule.layer, rule.rule),
    )
}

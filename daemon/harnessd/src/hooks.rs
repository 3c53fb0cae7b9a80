//! `[[hook]]`: programs of the person's that stand around each call.
//!
//! They wrap what is judged and carried out, and are no part of it. Those before a call see it as it is so far, may
//! rewrite its input or refuse it; those after it see its outcome, may rewrite or withhold it. `docs/hooks.md` is the
//! contract.

mod configured;
mod error;
mod exchange;

use harness_execute::ToolGroup as _;
use harness_model::{
    CallContext, CallRequest, ErrorCode, ExplainedHook, Outcome, Refusal, Tool, ToolOutput,
};
use serde_json::{Map, Value, json};

pub(crate) use configured::Hooks;

use self::{
    configured::Hook,
    error::HookError,
    exchange::{Answer, Question},
};
use crate::{
    call::{OpenCall, Resolved},
    config::schema::HookEvent,
    harness::{Harness, InForce},
};

/// The longest reason of a hook's, in characters.
const REASON: usize = 1000;

impl Harness {
    /// Carries a call out between its hooks.
    pub(crate) async fn within_hooks(
        &self,
        resolved: Result<Resolved, Refusal>,
        context: &CallContext,
        open: &OpenCall,
    ) -> Outcome {
        let in_force = self.in_force();
        let mut resolved = self.before(resolved?, &in_force, context, open).await?;
        let outcome = self.judge_and_execute(&mut resolved, context).await?;
        self.after(&resolved, &in_force, context, outcome).await
    }

    /// What the hooks before a call make of it.
    async fn before(
        &self,
        mut resolved: Resolved,
        in_force: &InForce,
        context: &CallContext,
        open: &OpenCall,
    ) -> Result<Resolved, Refusal> {
        let mut rewritten = false;
        let hooks = &in_force.hooks;
        for hook in hooks.about(HookEvent::PreCall, &resolved.entry.tool) {
            match self.ask_before(hook, &resolved, context).await {
                Ok(Answer::Allow) => {}
                Ok(Answer::Rewrite(input)) => {
                    rewritten |= input != resolved.call.input;
                    resolved.call.input = input;
                }
                Ok(Answer::Refuse(reason)) => {
                    let message = format!("{hook} refuses this call: {reason}");
                    return Err(self.refusal(ErrorCode::Denied, hook, message));
                }
                Err(error) if hook.blocks => {
                    let message = format!("{hook} failed, and so the call is refused: {error}");
                    return Err(self.refusal(ErrorCode::Denied, hook, message));
                }
                Err(error) => tracing::warn!(%hook, %error, "a hook failed; the call goes on"),
            }
        }
        if rewritten {
            open.rewritten(&resolved).await?;
        }
        Ok(resolved)
    }

    /// What a hook says of a call; an input that it wrote is validated and prepared.
    async fn ask_before(
        &self,
        hook: &Hook,
        resolved: &Resolved,
        context: &CallContext,
    ) -> Result<Answer<Map<String, Value>>, HookError> {
        let question = self.question(hook, resolved, context);
        let answer = hook.program.ask(self.spawner(), &question.bytes()).await?;
        let input = match exchange::before(&answer)? {
            Answer::Rewrite(input) => input,
            other @ (Answer::Allow | Answer::Refuse(_)) => return Ok(other),
        };
        let fitting = resolved.entry.fit(input);
        fitting
            .map(Answer::Rewrite)
            .map_err(|refusal| HookError::Input(refusal.message))
    }

    /// What the hooks after a call leave of its outcome.
    async fn after(
        &self,
        resolved: &Resolved,
        in_force: &InForce,
        context: &CallContext,
        mut outcome: Outcome,
    ) -> Outcome {
        let hooks = &in_force.hooks;
        for hook in hooks.about(HookEvent::PostCall, &resolved.entry.tool) {
            match self.ask_after(hook, resolved, context, &outcome).await {
                Ok(Answer::Allow) => {}
                Ok(Answer::Rewrite(output)) => outcome = Ok(output),
                Ok(Answer::Refuse(reason)) => {
                    let message =
                        format!("the call was made, but {hook} withholds its result: {reason}");
                    return Err(self.refusal(ErrorCode::ToolError, hook, message));
                }
                Err(error) if hook.blocks => {
                    let message = format!(
                        "the call was made, but {hook} failed, and so its result is withheld: {error}"
                    );
                    return Err(self.refusal(ErrorCode::ToolError, hook, message));
                }
                Err(error) => tracing::warn!(%hook, %error, "a hook failed; the result goes on"),
            }
        }
        outcome
    }

    /// What a hook says of an outcome.
    async fn ask_after(
        &self,
        hook: &Hook,
        resolved: &Resolved,
        context: &CallContext,
        outcome: &Outcome,
    ) -> Result<Answer<ToolOutput>, HookError> {
        let question = self.question(hook, resolved, context).after(outcome);
        let answer = hook.program.ask(self.spawner(), &question.bytes()).await?;
        exchange::after(&answer, outcome, &resolved.entry.tool)
    }

    fn question<'a>(
        &self,
        hook: &Hook,
        resolved: &'a Resolved,
        context: &'a CallContext,
    ) -> Question<'a> {
        let cwd = self.cwd_of(&resolved.call);
        Question::new(
            hook.event,
            &resolved.entry.tool,
            &resolved.call,
            context,
            cwd,
        )
    }

    /// A hook's word may hold what it was told, so it is cleaned as a record is.
    fn refusal(&self, code: ErrorCode, hook: &Hook, message: String) -> Refusal {
        let message = self.redactor().text(message);
        Refusal::new(code, message).with_details(json!({ "hook": hook.to_string() }))
    }

    /// The end of a task that a client of MCP asks for by id is what the tool `status` would tell, hooks included.
    pub(crate) async fn review(
        &self,
        task: &harness_model::UnitId,
        context: &CallContext,
        output: ToolOutput,
    ) -> Outcome {
        let request = CallRequest {
            group: Some(self.bash().name().to_owned()),
            tool: "status".to_owned(),
            input: Map::from_iter([("id".to_owned(), json!(task))]),
        };
        let resolved = self.resolve(request, harness_model::CallId::generate())?;
        let in_force = self.in_force();
        self.after(&resolved, &in_force, context, Ok(output)).await
    }

    /// The hooks that a call of the tool goes through.
    pub(crate) fn explain_hooks(&self, tool: &Tool) -> Vec<ExplainedHook> {
        let in_force = self.in_force();
        let both = [HookEvent::PreCall, HookEvent::PostCall];
        let hooks = both
            .into_iter()
            .flat_map(|event| in_force.hooks.about(event, tool));
        hooks.map(Hook::explained).collect()
    }
}

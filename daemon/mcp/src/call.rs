//! One `tools/call`: as a call that the client waits for, or as a task (SEP-2663).

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, future::BoxFuture};
use harness_model::{CallContext, Delivery, ErrorCode, Refusal, ToolOutput};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CreateTaskResult},
    service::RequestContext,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    backend::TaskStart,
    connection::{Connection, is_stateless},
    convert,
    elicit::Elicitation,
    handler::SERVER_INFO,
    progress::ProgressRelay,
    task,
};

impl Connection {
    /// Runs a call until it has an outcome or the client takes it back, which drops its future.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let elicitation = self.elicitation(&request, &context).await?;
        let name = request.name;
        let input = request.arguments.unwrap_or_default();
        let (progress, relay) = match context.meta.get_progress_token() {
            Some(token) => {
                let (report, relay) = ProgressRelay::new(token);
                (Some(report), Some(relay))
            }
            None => (None, None),
        };
        let call = CallContext {
            progress,
            elicit: elicitation.asker(),
            ..self.call_context(&context)
        };
        let (backend, view) = (self.backend(), self.view());
        let delivery = call.delivery.clone();
        let info = self.foreign_info(is_stateless(&context));
        if declares_tasks(&context) && backend.task_of(view, &name, &input) {
            let started = backend.task_start(view, &name, input, call);
            return match finish(started, relay, &context).await? {
                Ok(TaskStart::Started(handle)) => {
                    Ok(CreateTaskResult::new(task::summary(&handle)).into())
                }
                Ok(TaskStart::Ended(output)) => Ok(self.result(output, info, &delivery)),
                Err(refusal) => self.not_done(&name, &refusal, &elicitation),
            };
        }
        let called = backend.call(view, &name, input, call);
        match finish(called, relay, &context).await? {
            Ok(output) => Ok(self.result(output, info, &delivery)),
            Err(refusal) => self.not_done(&name, &refusal, &elicitation),
        }
    }

    /// A call that was not made: its client is asked first, or it is refused.
    fn not_done(
        &self,
        name: &str,
        refusal: &Refusal,
        elicitation: &Elicitation,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.input_required(elicitation, refusal) {
            Some(question) => Ok(question),
            None => self.refused(name, refusal),
        }
    }

    /// `info`: who answers, where the result has to say it.
    fn result(
        &self,
        output: ToolOutput,
        info: Option<Value>,
        delivery: &Delivery,
    ) -> CallToolResponse {
        self.answered(delivery);
        let mut result = convert::result(output);
        if let Some(info) = info {
            let meta = result.meta.get_or_insert_default();
            meta.0.insert(SERVER_INFO.to_owned(), info);
        }
        result.into()
    }

    /// A refused call is a result that the model reads; only a tool that this view does not have is
    /// an error of the protocol, as the specification asks.
    fn refused(&self, name: &str, refusal: &Refusal) -> Result<CallToolResponse, ErrorData> {
        let listing = self.listing().ok();
        let entry = listing.as_ref().and_then(|listing| listing.get(name));
        if entry.is_none() && refusal.code == ErrorCode::UnknownCommand {
            return Err(convert::error(refusal));
        }
        if let Some(error) = convert::foreign_error(refusal) {
            return Err(error);
        }
        let structured = entry.is_none_or(|entry| entry.structured_errors);
        Ok(convert::refused(refusal, structured).into())
    }

    /// A call whose `arguments` are no object: the model learns what the tool takes. `None` when it
    /// is not such a call.
    pub(crate) fn misshapen_call(
        &self,
        params: &Value,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let name = params.get("name")?.as_str()?;
        let arguments = params.get("arguments").filter(|value| !value.is_object())?;
        let listing = self.listing().ok()?;
        let refusal = match listing.get(name) {
            Some(entry) => Refusal::new(
                ErrorCode::InvalidInput,
                format!(
                    "arguments must be a JSON object, not {}; the signature is {}",
                    kind(arguments),
                    entry.tool.signature(),
                ),
            ),
            None => Refusal::new(
                ErrorCode::UnknownCommand,
                format!("there is no tool {name:?}"),
            ),
        };
        Some(self.refused(name, &refusal))
    }
}

/// Waits for the outcome while progress goes out. The error answers a cancelled request, which
/// nobody reads, or a backend that panicked.
async fn finish<T>(
    work: BoxFuture<'static, T>,
    relay: Option<ProgressRelay>,
    context: &RequestContext<RoleServer>,
) -> Result<T, ErrorData> {
    let work = AssertUnwindSafe(work).catch_unwind();
    let finished = async {
        let Some(relay) = relay else {
            return work.await;
        };
        let ended = CancellationToken::new();
        let relaying = relay.run(&context.peer, ended.clone());
        tokio::pin!(work, relaying);
        let outcome = loop {
            tokio::select! {
                biased;
                outcome = &mut work => break outcome,
                // It runs until `ended`.
                () = &mut relaying => {}
            }
        };
        ended.cancel();
        relaying.await;
        outcome
    };
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
        finished = finished => finished.map_err(|_panic| {
            ErrorData::internal_error("the call failed inside the harness; its log says where", None)
        }),
    }
}

/// Whether the answer may be a task. The extension says so per request, with a `resultType` that
/// sessions do not have: clients that declare it in `initialize` cannot read a task there.
fn declares_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_stateless(context)
        && context
            .client_capabilities()
            .is_some_and(|capabilities| capabilities.supports_tasks())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

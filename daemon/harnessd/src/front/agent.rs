//! The agent's side: what MCP asks of the harness, in the harness's own words.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use harness_execute::{ToolGroup as _, mcp::ServerDescription};
use harness_mcp::{Backend, Exposed, Notice, TaskHandle, TaskStart, View};
use harness_model::{
    CallContext, CallRequest, ErrorCode, Outcome, Refusal, SessionId, TaskState, TaskStatus,
    Timestamp, ToolOutput, UnitId,
};
use harness_supervise::UnitHandle;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;

use crate::harness::Harness;

/// The tool whose calls may run as MCP tasks.
const TASK_TOOL: (&str, &str) = ("bash", "run");

/// The tool that ends one.
const STOP_TOOL: (&str, &str) = ("bash", "stop");

/// The harness behind `mcp.sock` and `[mcp_http]`.
pub(crate) struct Agent {
    harness: Arc<Harness>,
}

impl Agent {
    pub(crate) fn new(harness: Arc<Harness>) -> Self {
        Self { harness }
    }

    /// What the MCP server says of itself that a view shows.
    fn description(&self, view: &View) -> Option<Arc<ServerDescription>> {
        match view {
            View::All => None,
            View::Group(name) | View::Server(name) => {
                let server = self.harness.servers().get(name).ok()?;
                server.description()
            }
        }
    }

    fn request(view: &View, name: &str, input: Map<String, Value>) -> CallRequest {
        let group = match view {
            View::All => None,
            View::Group(group) | View::Server(group) => Some(group.clone()),
        };
        CallRequest {
            group,
            tool: name.to_owned(),
            input,
        }
    }
}

impl Backend for Agent {
    fn tools(&self, view: &View) -> Result<Vec<Exposed>, Refusal> {
        self.harness
            .catalogue()
            .exposed(view, &self.harness.in_force().policy)
    }

    fn ready(&self, view: &View) -> BoxFuture<'static, ()> {
        self.harness.servers().ready(view)
    }

    fn server_info(&self, view: &View) -> Option<Value> {
        self.description(view)?.info.clone()
    }

    fn instructions(&self, view: &View) -> Option<String> {
        if let Some(description) = self.description(view) {
            return description.instructions.clone();
        }
        let bash = matches!(view, View::All)
            || *view == View::Group(self.harness.bash().name().to_owned());
        bash.then(|| {
            "Run shell commands with `run`: each is a task that is supervised and recorded, and ends with everything it \
             started. One that takes longer than wait_seconds goes on; `status` waits for it, and a wake tells its end."
                .to_owned()
        })
    }

    fn server_name(&self, view: &View) -> String {
        match view {
            View::All => "harness".to_owned(),
            View::Group(name) | View::Server(name) => name.clone(),
        }
    }

    fn call(
        &self,
        view: &View,
        name: &str,
        input: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let request = Self::request(view, name, input);
        let harness = self.harness.clone();
        Box::pin(async move { harness.call(request, context).await })
    }

    fn task_of(&self, view: &View, name: &str, input: &Map<String, Value>) -> bool {
        let request = Self::request(view, name, Map::new());
        let resolved = self.harness.catalogue().resolve(&request);
        let is_run = resolved
            .is_ok_and(|entry| (entry.tool.group.as_str(), entry.tool.name.as_str()) == TASK_TOOL);
        // A faulty input is refused as a call: a task of it would never be.
        is_run && input.get("cmd").is_some_and(Value::is_string)
    }

    /// What ends within the call's wait is its result; MCP then asks for the rest by id.
    fn task_start(
        &self,
        view: &View,
        name: &str,
        input: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Result<TaskStart, Refusal>> {
        let request = Self::request(view, name, input);
        let harness = self.harness.clone();
        Box::pin(async move {
            let output = harness.call(request, context).await?;
            match still_running(&output) {
                Some(unit) => task(&harness, &unit).await.map(TaskStart::Started),
                None => Ok(TaskStart::Ended(output)),
            }
        })
    }

    /// Who has the end in hand needs no wake.
    fn task_get(
        &self,
        id: &str,
        context: CallContext,
    ) -> BoxFuture<'static, Result<TaskHandle, Refusal>> {
        let (harness, id) = (self.harness.clone(), id.to_owned());
        Box::pin(async move {
            let unit = parse(&id)?;
            let mut handle = task(&harness, &unit).await?;
            if let Some(output) = handle.output.take() {
                let reviewed = harness.review(&unit, &context, output).await;
                handle.output = Some(reviewed.unwrap_or_else(|refusal| withheld(&refusal)));
            }
            if handle.state.has_ended() {
                let wakes = harness.wakes().clone();
                context.delivery.on_settled(move |delivered| {
                    if delivered {
                        wakes.end_is_known(unit);
                    }
                });
            }
            Ok(handle)
        })
    }

    /// A call of `stop`, so that it is judged and recorded; only its beginning is waited for.
    fn task_cancel(
        &self,
        id: &str,
        context: CallContext,
    ) -> BoxFuture<'static, Result<(), Refusal>> {
        let (harness, id) = (self.harness.clone(), id.to_owned());
        Box::pin(async move {
            let live = harness.bash().live(&parse(&id)?);
            let request = CallRequest {
                group: Some(STOP_TOOL.0.to_owned()),
                tool: STOP_TOOL.1.to_owned(),
                input: Map::from_iter([("id".to_owned(), json!(id))]),
            };
            let stopping = tokio::spawn(async move { harness.call(request, context).await });
            tokio::select! {
                stopped = stopping => match stopped {
                    Ok(outcome) => outcome.map(drop),
                    Err(error) => Err(Refusal::new(ErrorCode::OutcomeUnknown, error.to_string())),
                },
                () = stop_begun(live) => Ok(()),
            }
        })
    }

    fn session_opened(&self, session: &SessionId, client: &str) {
        self.harness.sessions().opened(session, client);
    }

    fn session_closed(&self, session: &SessionId) {
        self.harness.sessions().closed(session);
        self.harness.repetition().forget(session);
    }

    fn notices(&self) -> broadcast::Receiver<Notice> {
        self.harness.notices().subscribe()
    }
}

fn parse(id: &str) -> Result<UnitId, Refusal> {
    id.parse().map_err(|error: harness_model::IdError| {
        Refusal::new(ErrorCode::UnknownCommand, error.to_string())
    })
}

/// The task of a result that says it goes on.
fn still_running(output: &ToolOutput) -> Option<UnitId> {
    let status = output.structured.as_ref()?;
    let state = TaskState::from_word(status["status"].as_str()?)?;
    let unit = status["id"].as_str()?.parse().ok()?;
    (!state.has_ended()).then_some(unit)
}

/// Resolves when somebody has asked for the end of the task, or it has come; never without a task.
async fn stop_begun(live: Option<UnitHandle>) {
    let Some(mut changes) = live.map(|handle| handle.changes()) else {
        return std::future::pending().await;
    };
    let begun = changes.wait_for(|state| state.stop_requested || state.is_final());
    if begun.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A refusal where only a result has a place.
fn withheld(refusal: &Refusal) -> ToolOutput {
    ToolOutput {
        is_error: true,
        ..ToolOutput::new(refusal.message.clone(), refusal.to_json())
    }
}

async fn task(harness: &Harness, unit: &UnitId) -> Result<TaskHandle, Refusal> {
    let status = harness
        .bash()
        .status_of(unit, std::time::Duration::ZERO)
        .await?;
    Ok(handle(&status))
}

fn handle(status: &TaskStatus) -> TaskHandle {
    let started = status.started_at.unwrap_or_default();
    let updated = if status.status.has_ended() {
        started
            .plus(std::time::Duration::try_from_secs_f64(status.duration_secs).unwrap_or_default())
    } else {
        Timestamp::from(std::time::SystemTime::now())
    };
    TaskHandle {
        id: status.id.to_string(),
        state: status.status,
        message: harness_execute::bash::headline(status),
        created_at: started,
        updated_at: updated,
        output: status
            .status
            .has_ended()
            .then(|| harness_execute::bash::full(status)),
    }
}

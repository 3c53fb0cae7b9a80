//! The group itself: its tools and who carries them out.

use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use harness_model::{
    Annotations, Call, CallContext, Outcome, Refusal, RunInput, SandboxRules, TaskStatus, Tool,
};
use harness_supervise::Engine;
use serde_json::{Map, Value};

use super::{BashSettings, input, run};
use crate::{ToolGroup, group, schema, store::UnitStore};

/// The tool group `bash`.
pub struct Bash {
    pub(super) engine: Engine,
    pub(super) store: Arc<dyn UnitStore>,
    settings: RwLock<Arc<BashSettings>>,
}

impl Bash {
    /// The group over an engine and a record.
    #[must_use]
    pub fn new(engine: Engine, store: Arc<dyn UnitStore>, settings: BashSettings) -> Self {
        Self {
            engine,
            store,
            settings: RwLock::new(Arc::new(settings)),
        }
    }

    /// Puts new settings in force for the tasks that start from now on.
    pub fn configure(&self, settings: BashSettings) {
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    pub(super) fn settings(&self) -> Arc<BashSettings> {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl ToolGroup for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn tools(&self) -> Vec<Tool> {
        vec![
            tool(
                "run",
                "Run a command",
                RUN,
                changes(),
                schema::input::<RunInput>(),
                true,
            ),
            tool(
                "status",
                "Status of a task",
                STATUS,
                reads(),
                schema::input::<input::Status>(),
                true,
            ),
            tool(
                "list",
                "List tasks",
                LIST,
                reads(),
                schema::input::<input::List>(),
                false,
            ),
            tool(
                "output",
                "Read output",
                OUTPUT,
                reads(),
                schema::input::<input::Output>(),
                false,
            ),
            tool(
                "stop",
                "Stop a task",
                STOP,
                ends(),
                schema::input::<input::Stop>(),
                true,
            ),
            tool(
                "restart",
                "Restart a task",
                RESTART,
                changes(),
                schema::input::<input::Stop>(),
                true,
            ),
            tool(
                "signal",
                "Signal a task",
                SIGNAL,
                ends(),
                schema::input::<input::Kill>(),
                false,
            ),
        ]
    }

    /// Makes the paths that `run` asks to be opened exact.
    fn prepare(
        &self,
        tool: &str,
        mut input: Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        if tool == "run" {
            run::prepare(&self.settings(), &mut input)?;
        }
        Ok(input)
    }

    fn sandbox(&self, call: &Call) -> Option<SandboxRules> {
        let input: RunInput = group::input(call).ok().filter(|_| call.tool == "run")?;
        run::sandbox(&self.settings(), &input, call.allowance.as_ref()).ok()
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a CallContext) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match call.tool.as_str() {
                "run" => self.run(call, context).await,
                "status" => self.status(group::input(call)?, context).await,
                "list" => self.list(group::input(call)?).await,
                "output" => self.output(group::input(call)?).await,
                "stop" => self.stop(group::input(call)?).await,
                "restart" => self.restart(group::input(call)?).await,
                "signal" => self.signal(group::input(call)?).await,
                _ => Err(group::no_such_tool(call)),
            }
        })
    }
}

const RUN: &str = "Run a shell command as a background task. If it ends within wait_seconds (default 3, at most 30) the full \
    status is returned; else `task started: id=ID`, it runs on, and a wake tells its end. No terminal, stdin is empty. \
    Everything it starts ends with it. Where the result's `containment` says that the sandbox refused something, \
    `sandbox` asks a person for more.";
const STATUS: &str = "A task's status, exit code and the last 4 KiB of its output. With wait_seconds (at most 30) it waits for the end.";
const LIST: &str = "The tasks, newest first, with their status.";
const OUTPUT: &str =
    "Read a task's stdout or stderr from a byte offset on; next_offset is where to read on.";
const STOP: &str = "End a task: kill_signal, then after timeout_stop_sec final_kill_signal, to all its processes. Returns its status.";
const RESTART: &str =
    "Run a task again under its id: one that runs is stopped first. Returns its status.";
const SIGNAL: &str = "Send a signal to a task's main process, or to all its processes.";

fn tool(
    name: &str,
    title: &str,
    description: &str,
    annotations: Annotations,
    input_schema: serde_json::Value,
    gives_status: bool,
) -> Tool {
    Tool {
        group: "bash".to_owned(),
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description: description.to_owned(),
        input_schema,
        output_schema: gives_status.then(schema::output::<TaskStatus>),
        annotations,
        direct: true,
    }
}

fn reads() -> Annotations {
    Annotations {
        read_only_hint: Some(true),
        open_world_hint: Some(false),
        ..Annotations::default()
    }
}

/// A command can do anything.
fn changes() -> Annotations {
    Annotations {
        read_only_hint: Some(false),
        destructive_hint: Some(true),
        idempotent_hint: Some(false),
        open_world_hint: Some(true),
    }
}

/// It ends what the agent itself started, and nothing else.
fn ends() -> Annotations {
    Annotations {
        read_only_hint: Some(false),
        destructive_hint: Some(false),
        idempotent_hint: Some(true),
        open_world_hint: Some(false),
    }
}

//! The group itself.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use harness_model::{Annotations, Call, CallContext, Outcome, Refusal, SandboxRules, Tool};
use harness_supervise::Engine;
use serde_json::{Map, Value, json};

use super::{
    LiveOutput, ShellSettings, directory,
    identity::{self, Told},
    input::{Given, Prepared, milliseconds},
    interpreter,
    refusal::{disabled, invalid},
    result::ShellResult,
};
use crate::{ToolGroup, bash::LONGEST_COMMAND, confine, group, schema, store::UnitStore};

/// The tool group `shell`.
pub struct Shell {
    pub(super) engine: Engine,
    pub(super) store: Arc<dyn UnitStore>,
    pub(super) live: Arc<dyn LiveOutput>,
    pub(super) system: String,
    pub(super) told: Mutex<Told>,
    settings: RwLock<Arc<ShellSettings>>,
}

impl Shell {
    /// The group over an engine; output goes to `live` while it is written.
    #[must_use]
    pub fn new(
        engine: Engine,
        store: Arc<dyn UnitStore>,
        live: Arc<dyn LiveOutput>,
        settings: ShellSettings,
    ) -> Self {
        Self {
            engine,
            store,
            live,
            system: identity::operating_system(),
            told: Mutex::default(),
            settings: RwLock::new(Arc::new(settings)),
        }
    }

    /// Puts new settings in force for the calls that come from now on.
    pub fn configure(&self, settings: ShellSettings) {
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    pub(super) fn settings(&self) -> Arc<ShellSettings> {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl ToolGroup for Shell {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn tools(&self) -> Vec<Tool> {
        vec![Tool {
            group: "shell".to_owned(),
            name: "shell".to_owned(),
            title: Some("Run a command and wait".to_owned()),
            description: SHELL.to_owned(),
            input_schema: schema::input::<Given>(),
            output_schema: Some(schema::output::<ShellResult>()),
            annotations: Annotations {
                read_only_hint: Some(false),
                destructive_hint: Some(true),
                idempotent_hint: Some(false),
                open_world_hint: Some(true),
            },
            direct: true,
        }]
    }

    /// Fixes interpreter, time limit and directory, so that what is judged and shown is what will run.
    fn prepare(
        &self,
        _tool: &str,
        mut input: Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        let settings = self.settings();
        if !settings.enabled {
            return Err(disabled());
        }
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        check_command(text("cmd").unwrap_or_default())?;
        let shell = match text("shell") {
            Some(shell) => interpreter::find(shell, &settings.search_path())?,
            None => settings.shell.clone(),
        };
        let cwd = directory::resolve(&settings.workspace, text("cwd"))?;
        let timeout = settings.timeout(input.get("timeoutMs").and_then(milliseconds));
        input.insert("shell".to_owned(), json!(shell.to_string_lossy()));
        input.insert("cwd".to_owned(), json!(cwd));
        input.insert("timeoutMs".to_owned(), json!(timeout));
        let environment = settings.variables();
        let home = confine::variable(&environment, "HOME");
        confine::prepare(&mut input, &settings.sandbox, home)
            .map_err(|message| invalid(&message))?;
        Ok(input)
    }

    fn sandbox(&self, call: &Call) -> Option<SandboxRules> {
        let input: Prepared = group::input(call).ok()?;
        let settings = self.settings();
        let cwd = directory::enter(&settings.workspace, &input.cwd).ok()?;
        Some(settings.confine(&input, &cwd, call.allowance.as_ref()))
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a CallContext) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match call.tool.as_str() {
                "shell" => self.run(call, context).await,
                _ => Err(group::no_such_tool(call)),
            }
        })
    }
}

const SHELL: &str = "Run a command in the workspace, wait for its end, and get its stdout, stderr and exit code. For what takes \
    no longer than timeoutMs; use `run` for what goes on in the background. No terminal, stdin is empty, so nothing can \
    ask or page. Everything it starts ends with it. Where the result's `containment` says that the sandbox refused something, \
    `sandbox` asks a person for more.";

fn check_command(cmd: &str) -> Result<(), Refusal> {
    if cmd.trim().is_empty() {
        return Err(invalid("cmd is empty: give the command to run"));
    }
    if cmd.contains('\0') {
        return Err(invalid(
            "cmd has a NUL character in it, which no command line can carry",
        ));
    }
    if cmd.len() > LONGEST_COMMAND {
        let message = format!(
            "cmd is {} bytes long, and the kernel passes at most {LONGEST_COMMAND} in one argument: write it to a file and run that",
            cmd.len()
        );
        return Err(invalid(&message));
    }
    Ok(())
}

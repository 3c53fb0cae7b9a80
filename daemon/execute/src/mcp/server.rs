//! The handle to one server.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::future::BoxFuture;
use harness_model::{Call, CallContext, ErrorCode, Outcome, PluginStatus, Refusal, Tool, UnitId};
use harness_supervise::Engine;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    activity::Activity,
    connection::{Connector, ServerDescription, ServerWatcher},
    offer::Offered,
    settings::{Reach, ServerSettings},
    state::{Phase, State},
    supervisor::{Command, Supervisor},
};
use crate::ToolGroup;

/// How much of its standard error a refusal shows: lines and bytes.
const TAIL: (usize, u64) = (8, 1500);

/// One MCP server: a tool group whose tools come and go with it. Cheap to clone.
#[derive(Clone)]
pub struct McpServer {
    shared: Arc<Shared>,
}

/// What the handle and its supervisor share.
pub(super) struct Shared {
    pub(super) settings: ServerSettings,
    pub(super) engine: Engine,
    pub(super) connector: Arc<dyn Connector>,
    pub(super) watcher: Arc<dyn ServerWatcher>,
    pub(super) state: watch::Sender<State>,
    pub(super) offered: RwLock<Arc<Vec<Offered>>>,
    pub(super) activity: Activity,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    /// Where the standard error of the current run begins in its unit's file, in bytes.
    pub(super) stderr_from: AtomicU64,
}

impl McpServer {
    /// A server, which is started unless it waits for a call. Nothing of it happens before `before` has: the
    /// process that it replaces is gone then. Needs a tokio runtime.
    pub fn begin(
        settings: ServerSettings,
        engine: Engine,
        connector: Arc<dyn Connector>,
        watcher: Arc<dyn ServerWatcher>,
        before: BoxFuture<'static, ()>,
    ) -> Self {
        let (commands, receiver) = mpsc::unbounded_channel();
        let mut state = State::new();
        if !settings.on_demand {
            // Who asks from now on waits for it.
            state.phase = Phase::Starting { first: true };
        }
        let shared = Arc::new(Shared {
            settings,
            engine,
            connector,
            watcher,
            state: watch::Sender::new(state),
            offered: RwLock::default(),
            activity: Activity::new(),
            commands,
            stderr_from: AtomicU64::new(0),
        });
        let supervisor = Supervisor::new(Arc::clone(&shared), receiver);
        tokio::spawn(supervisor.run(before));
        Self { shared }
    }

    /// As the API shows it.
    #[must_use]
    pub fn status(&self) -> PluginStatus {
        self.shared.status()
    }

    /// What it last said of itself.
    #[must_use]
    pub fn description(&self) -> Option<Arc<ServerDescription>> {
        self.shared.state.borrow().description.clone()
    }

    /// Whether its first start is still under way.
    #[must_use]
    pub fn is_on_its_way(&self) -> bool {
        self.shared.state.borrow().is_on_its_way()
    }

    /// Resolves when its first start has come to something, one way or the other; at once if it is not being started.
    pub async fn arrived(&self) {
        let mut states = self.shared.state.subscribe();
        // It ends with the server.
        drop(states.wait_for(|state| !state.is_on_its_way()).await);
    }

    /// The same, starting it if a call would.
    pub async fn loaded(&self) {
        // Whoever asks for a tool is told why it is not there.
        drop(self.shared.connection().await);
    }

    /// Why none of its tools can be called, if that is so.
    #[must_use]
    pub fn absence(&self) -> Option<Refusal> {
        self.shared.absence()
    }

    /// Starts it, whatever it was stopped or given up for; resolves when that has come to something.
    ///
    /// # Errors
    /// `unavailable`: why it is not there.
    pub async fn start(&self) -> Result<PluginStatus, Refusal> {
        self.ask(Command::Start).await;
        self.shared.connection().await?;
        Ok(self.status())
    }

    /// Stops it, and resolves when nothing of it is left. No call starts it again.
    pub async fn stop(&self) -> PluginStatus {
        self.ask(Command::Stop).await;
        self.status()
    }

    /// Stops it and starts it again; never two of it at once.
    ///
    /// # Errors
    /// `unavailable`: why it is not there.
    pub async fn restart(&self) -> Result<PluginStatus, Refusal> {
        self.ask(Command::Restart).await;
        self.shared.connection().await?;
        Ok(self.status())
    }

    /// It is no longer wanted: stops it and ends its supervision. Resolves when nothing of it is left.
    pub async fn end(&self) {
        self.ask(Command::End).await;
    }

    async fn ask(&self, command: impl FnOnce(oneshot::Sender<()>) -> Command) {
        let (reply, answer) = oneshot::channel();
        if self.shared.commands.send(command(reply)).is_ok() {
            // Without an answer the supervisor has ended, and with it the server.
            drop(answer.await);
        }
    }

    /// The file with the standard error of its current or last process.
    ///
    /// # Errors
    /// `unavailable`: it has none.
    pub fn log_file(&self) -> Result<PathBuf, Refusal> {
        let file = self.shared.stderr();
        file.ok_or_else(|| {
            let name = &self.shared.settings.name;
            let message = match self.shared.settings.reach {
                Reach::Address(_) => format!("{name} is at an address, and has no output here"),
                Reach::Program(_) => format!("{name} was not started yet, so it has no output"),
            };
            Refusal::new(ErrorCode::Unavailable, message)
        })
    }
}

impl Shared {
    pub(super) fn status(&self) -> PluginStatus {
        self.state.borrow().status(&self.settings)
    }

    /// Changes the state, and tells whoever watches.
    pub(super) fn set(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
        self.watcher.changed(self.status());
    }

    /// A text for a person, without secrets.
    pub(super) fn clean(&self, text: impl Into<String>) -> String {
        self.watcher.redact(text.into())
    }

    fn stderr_of(&self, unit: &UnitId) -> Option<PathBuf> {
        match &self.settings.reach {
            Reach::Program(program) => Some(program.spec(&self.settings.name, unit).output.stderr),
            Reach::Address(_) => None,
        }
    }

    fn stderr(&self) -> Option<PathBuf> {
        let unit = self.state.borrow().unit.clone()?;
        self.stderr_of(&unit)
    }

    /// What follows belongs to the next run.
    pub(super) fn end_stderr(&self) {
        let length = self.stderr().and_then(|path| path.metadata().ok());
        let length = length.map_or(0, |metadata| metadata.len());
        self.stderr_from.store(length, Ordering::Relaxed);
    }

    /// What the standard error of the current run ends with, if it said anything.
    pub(super) fn stderr_tail(&self) -> Option<String> {
        let from = self.stderr_from.load(Ordering::Relaxed);
        let text = tail(&self.stderr()?, from).ok()?;
        (!text.is_empty()).then(|| self.clean(text))
    }
}

/// The last lines of what a file holds from a place on.
fn tail(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = from.max(length.saturating_sub(TAIL.1));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL.1).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim().lines().collect();
    let last = lines.len().saturating_sub(TAIL.0);
    Ok(lines.get(last..).unwrap_or_default().join("\n"))
}

impl ToolGroup for McpServer {
    fn name(&self) -> &str {
        &self.shared.settings.name
    }

    fn tools(&self) -> Vec<Tool> {
        let offered = self.shared.offered.read();
        let offered = Arc::clone(&offered.unwrap_or_else(PoisonError::into_inner));
        offered.iter().map(|one| one.tool.clone()).collect()
    }

    fn original(&self, tool: &str) -> Option<Arc<Map<String, Value>>> {
        let offered = self.shared.offered.read();
        let offered = Arc::clone(&offered.unwrap_or_else(PoisonError::into_inner));
        let found = offered.iter().find(|one| one.tool.name == tool);
        found.map(|one| Arc::clone(&one.original))
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a CallContext) -> BoxFuture<'a, Outcome> {
        Box::pin(self.shared.call(call, context))
    }
}

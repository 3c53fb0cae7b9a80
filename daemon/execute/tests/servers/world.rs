//! An owner of processes, a record and servers that do as they are told.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use harness_execute::mcp::{
    CallFailure, ConnectFailure, ConnectFault, Connector, Listing, McpServer, Pipes, Program,
    Reach, ServerCall, ServerConnection, ServerDescription, ServerNotice, ServerSettings,
    ServerWatcher,
};
use harness_model::{
    ExitReport, ExitStatus, InvocationId, NewUnit, PluginStatus, Signal, Timestamp, Transition,
    UnitId, Usage,
};
use harness_supervise::{
    Engine, Journal, JournalError, ProcessEvent, SpawnError, SpawnRequest, Spawned, Spawner,
    StopSequence,
};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// What happens outside.
pub(crate) struct World {
    /// When each process was started.
    pub(crate) starts: Mutex<Vec<Instant>>,
    current: Mutex<Option<mpsc::UnboundedSender<ProcessEvent>>>,
    /// The connection of the current process ends with it.
    over: watch::Sender<bool>,
    /// Servers say nothing at all.
    pub(crate) silent: AtomicBool,
    /// Servers answer no ping.
    pub(crate) deaf: AtomicBool,
    pub(crate) kills: Mutex<u32>,
    pub(crate) states: Mutex<Vec<PluginStatus>>,
    pub(crate) changed: watch::Sender<u64>,
    directory: tempfile::TempDir,
}

pub(crate) fn world() -> Arc<World> {
    Arc::new(World {
        starts: Mutex::default(),
        current: Mutex::default(),
        over: watch::Sender::new(false),
        silent: AtomicBool::new(false),
        deaf: AtomicBool::new(false),
        kills: Mutex::default(),
        states: Mutex::default(),
        changed: watch::Sender::new(0),
        directory: tempfile::tempdir().unwrap(),
    })
}

impl World {
    /// The current process ends.
    pub(crate) fn end(&self, status: ExitStatus) {
        let current = self.current.lock().unwrap().take();
        self.over.send_replace(true);
        if let Some(current) = current {
            let report = report(status);
            current
                .send(ProcessEvent::MainExited(report.clone()))
                .unwrap();
            current.send(ProcessEvent::Ended(report)).unwrap();
        }
    }

    pub(crate) fn crash(&self) {
        self.end(ExitStatus::Exited(1));
    }

    /// A server with these keys of its unit.
    pub(crate) fn server(
        self: &Arc<Self>,
        unit: &str,
        change: impl FnOnce(&mut ServerSettings),
    ) -> McpServer {
        let program = Program {
            argv: vec!["server".into()],
            environment: Vec::new(),
            cwd: "/".into(),
            unit: serde_json::from_str(unit).unwrap(),
            output_directory: self.directory.path().to_owned(),
            output_max: 1 << 20,
        };
        let mut settings = ServerSettings {
            name: "fake".into(),
            reach: Reach::Program(Box::new(program)),
            on_demand: false,
            allowed: Arc::new(|_| true),
            timeout_start: Duration::from_secs(30),
            watchdog: None,
            idle_stop: None,
            obstacle: None,
        };
        change(&mut settings);
        let engine = Engine::new(Arc::clone(self) as _, Arc::clone(self) as _);
        let watcher = Arc::clone(self) as _;
        let connector = Arc::clone(self) as _;
        McpServer::begin(
            settings,
            engine,
            connector,
            watcher,
            Box::pin(std::future::ready(())),
        )
    }

    /// Whether nothing is told of the server for so long.
    pub(crate) async fn is_quiet_for(&self, span: Duration) -> bool {
        let mut changed = self.changed.subscribe();
        tokio::time::timeout(span, changed.changed()).await.is_err()
    }

    /// Waits until the server was seen in a state, from now on or now.
    pub(crate) async fn until(&self, is_so: impl Fn(&PluginStatus) -> bool) {
        let mut changed = self.changed.subscribe();
        loop {
            if self.states.lock().unwrap().last().is_some_and(&is_so) {
                return;
            }
            changed.changed().await.unwrap();
        }
    }
}

fn report(status: ExitStatus) -> ExitReport {
    ExitReport {
        status,
        ended_at: Timestamp::default(),
        runtime_usec: 1,
        usage: Usage::default(),
        oom_killed: false,
        left_over: 0,
        survivors: Vec::new(),
    }
}

impl Spawner for World {
    fn spawn(&self, _: SpawnRequest) -> BoxFuture<'_, Result<Spawned, SpawnError>> {
        let (sender, events) = mpsc::unbounded_channel();
        *self.current.lock().unwrap() = Some(sender);
        self.over.send_replace(false);
        self.starts.lock().unwrap().push(Instant::now());
        let spawned = Spawned {
            pid: 4242,
            started_at: Timestamp::default(),
            not_enforced: Vec::new(),
            events,
        };
        std::future::ready(Ok(spawned)).boxed()
    }

    fn signal(
        &self,
        _: &InvocationId,
        signal: Signal,
        _: bool,
    ) -> BoxFuture<'_, Result<(), SpawnError>> {
        *self.kills.lock().unwrap() += 1;
        self.end(ExitStatus::Signaled {
            signal,
            core_dump: false,
        });
        std::future::ready(Ok(())).boxed()
    }

    fn stop(&self, _: &InvocationId, _: StopSequence) -> BoxFuture<'_, Result<(), SpawnError>> {
        self.end(ExitStatus::Signaled {
            signal: Signal::TERM,
            core_dump: false,
        });
        std::future::ready(Ok(())).boxed()
    }

    fn acknowledge(&self, _: &InvocationId) {}
}

impl Journal for World {
    fn created(&self, _: NewUnit, _: Transition) -> BoxFuture<'_, Result<(), JournalError>> {
        std::future::ready(Ok(())).boxed()
    }

    fn starting(&self, _: Transition) -> BoxFuture<'_, Result<(), JournalError>> {
        std::future::ready(Ok(())).boxed()
    }

    fn changed(&self, _: Transition) -> BoxFuture<'_, Result<(), JournalError>> {
        std::future::ready(Ok(())).boxed()
    }

    fn noted(&self, _: Transition) {}

    fn waited(&self, _: &UnitId, _: bool) {}
}

type Connecting = BoxFuture<'static, Result<Arc<dyn ServerConnection>, ConnectFailure>>;

impl Connector for World {
    fn over_pipes(&self, pipes: Pipes) -> Connecting {
        drop(pipes);
        let mut over = self.over.subscribe();
        if self.silent.load(Ordering::Relaxed) {
            return Box::pin(async move {
                over.wait_for(|over| *over).await.unwrap();
                Err(ConnectFailure {
                    why: "it ended".into(),
                    kind: ConnectFault::Ended,
                })
            });
        }
        let deaf = self.deaf.load(Ordering::Relaxed);
        Box::pin(async move { Ok(Arc::new(Fake { over, deaf }) as _) })
    }

    fn to_address(&self) -> Connecting {
        std::future::pending().boxed()
    }
}

impl ServerWatcher for World {
    fn changed(&self, status: PluginStatus) {
        self.states.lock().unwrap().push(status);
        self.changed.send_modify(|count| *count += 1);
    }

    fn tools_changed(&self, _: &str) {}

    fn told(&self, _: &str, _: &str, _: &Map<String, Value>) {}

    fn redact(&self, text: String) -> String {
        text
    }
}

struct Fake {
    over: watch::Receiver<bool>,
    deaf: bool,
}

impl ServerConnection for Fake {
    fn description(&self) -> ServerDescription {
        ServerDescription {
            protocol: "2025-11-25".into(),
            info: None,
            capabilities: json!({}),
            instructions: None,
        }
    }

    fn tools(&self) -> BoxFuture<'_, Result<Listing, CallFailure>> {
        std::future::ready(Ok(Listing::default())).boxed()
    }

    fn call(&self, _: ServerCall) -> BoxFuture<'_, Result<Value, CallFailure>> {
        std::future::ready(Ok(json!({}))).boxed()
    }

    fn ping(&self) -> BoxFuture<'_, Result<(), CallFailure>> {
        if self.deaf {
            return std::future::pending().boxed();
        }
        std::future::ready(Ok(())).boxed()
    }

    fn notices(&self) -> BoxStream<'static, ServerNotice> {
        stream::pending().boxed()
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        let mut over = self.over.clone();
        async move {
            drop(over.wait_for(|over| *over).await);
            "it ended".to_owned()
        }
        .boxed()
    }
}

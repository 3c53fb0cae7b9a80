//! What the rest of the daemon has of the keeper.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use harness_keeper::protocol::{self, Reply, Request};
use harness_model::{Enforcement, InvocationId, KeeperStatus, Signal};
use harness_supervise::{Adopted, SpawnError, SpawnRequest, Spawned, Spawner, StopSequence};
use tokio::{sync::watch, task::AbortHandle};

use super::{
    KeeperError, KeeperOptions, convert, driver,
    routes::{Answer, Errand, Routes},
};

/// How long a spawn waits for a keeper that went away.
const RECONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Whether the keeper answers, and what it enforces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeeperState {
    /// For `HarnessStatus`.
    pub status: KeeperStatus,
    /// The keeper that may have children now, by its pid: the last one, while no other has answered.
    pub owner: Option<u32>,
    /// Every protection, and whether it holds; kept while the keeper is away.
    pub enforcement: Vec<Enforcement>,
    /// What it can do beside the plain protocol.
    pub features: Vec<String>,
}

/// The daemon's ends of a child's pipes; `None` where the child has something else.
#[derive(Debug, Default)]
pub struct Pipes {
    /// To write to.
    pub stdin: Option<OwnedFd>,
    /// To read from.
    pub stdout: Option<OwnedFd>,
    /// To read from.
    pub stderr: Option<OwnedFd>,
}

/// The keeper, as seen from the daemon. Cheap to clone; the connection closes with the last clone.
#[derive(Clone)]
pub struct KeeperHandle {
    shared: Arc<Shared>,
    _driver: Arc<Driver>,
}

/// Ends the driver with the last handle.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What handles and driver share.
pub(super) struct Shared {
    pub(super) options: KeeperOptions,
    routes: Mutex<Routes>,
    pub(super) state: watch::Sender<KeeperState>,
    /// The keeper was told to end: no other is started in its place.
    pub(super) ending: AtomicBool,
}

/// Connects to the keeper, which is started or awaited as `options` say, and takes over what it owns.
///
/// # Errors
/// It cannot be started, refuses this process, or speaks no version of the protocol that this daemon knows.
pub async fn connect(options: KeeperOptions) -> Result<(KeeperHandle, Vec<Adopted>), KeeperError> {
    let connection = driver::establish(&options).await?;
    let shared = Arc::new(Shared {
        options,
        routes: Mutex::default(),
        state: watch::Sender::default(),
        ending: AtomicBool::new(false),
    });
    let adopted = shared.routes().adopt(connection.listed.clone());
    shared.connected(&connection);
    let driver = tokio::spawn(driver::drive(Arc::clone(&shared), connection)).abort_handle();
    let handle = KeeperHandle {
        shared,
        _driver: Arc::new(Driver(driver)),
    };
    Ok((handle, adopted))
}

impl KeeperHandle {
    /// Whether the keeper answers, and what it enforces; changes are seen by the receiver.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<KeeperState> {
        self.shared.state.subscribe()
    }

    /// Starts a process whose standard streams are pipes to the daemon, but for those of `request` that are descriptors.
    ///
    /// With `keep` the keeper holds copies of the daemon's ends, for [`Self::pipes`] after a restart
    /// of the daemon. The child's input then ends by [`Self::close_pipes`], not before.
    pub async fn spawn_with_pipes(
        &self,
        request: SpawnRequest,
        keep: bool,
    ) -> Result<(Spawned, Pipes), SpawnError> {
        let (mut spawn, fds) = convert::spawn(request)?;
        for stream in [&mut spawn.stdin, &mut spawn.stdout, &mut spawn.stderr] {
            if *stream == protocol::Stdio::Null {
                *stream = protocol::Stdio::Pipe;
            }
        }
        spawn.keep_pipes = keep;
        let piped =
            [spawn.stdin, spawn.stdout, spawn.stderr].map(|stream| stream == protocol::Stdio::Pipe);
        let (spawned, fds) = self.shared.spawn(spawn, fds).await?;
        Ok((spawned, pipes(piped, fds)?))
    }

    /// The daemon's ends of the pipes that were kept for a run.
    pub async fn pipes(&self, invocation: &InvocationId) -> Result<Pipes, SpawnError> {
        let request = Request::Pipes {
            invocation: invocation.clone(),
        };
        match self.shared.ask(request, Vec::new()).await? {
            (
                Reply::Pipes {
                    stdin,
                    stdout,
                    stderr,
                },
                fds,
            ) => pipes([stdin, stdout, stderr], fds),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// The unit and the run whose tree a process is in; none for a stranger.
    ///
    /// # Errors
    /// The keeper does not answer, or is older than the daemon and cannot tell.
    pub async fn locate(&self, pid: i32) -> Result<Option<protocol::Location>, SpawnError> {
        match self.shared.ask(Request::Locate { pid }, Vec::new()).await? {
            (Reply::Located(location), _) => Ok(location),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// Closes the keeper's copies of the pipes of a run.
    pub async fn close_pipes(&self, invocation: &InvocationId) -> Result<(), SpawnError> {
        self.shared
            .ask_done(Request::ClosePipes {
                invocation: invocation.clone(),
            })
            .await
    }
}

impl KeeperHandle {
    /// Asks the keeper to end, and with it everything it owns; resolves when it is gone.
    pub async fn terminate(&self) {
        let mut state = self.state();
        // As long as the connection stands, the pid is the keeper's.
        let pid = state.borrow_and_update().status.pid;
        let pid = pid
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(rustix::process::Pid::from_raw);
        self.shared.ending.store(true, Ordering::Release);
        if let Some(pid) = pid
            && rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok()
        {
            // The sender lives in `self`.
            let _gone = state
                .wait_for(|state| !state.status.connected)
                .await
                .is_ok();
        }
    }
}

impl Spawner for KeeperHandle {
    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<Spawned, SpawnError>> {
        Box::pin(async move {
            let (spawn, fds) = convert::spawn(request)?;
            let (spawned, _) = self.shared.spawn(spawn, fds).await?;
            Ok(spawned)
        })
    }

    fn signal(
        &self,
        invocation: &InvocationId,
        signal: Signal,
        whole_tree: bool,
    ) -> BoxFuture<'_, Result<(), SpawnError>> {
        Box::pin(self.shared.ask_done(Request::Signal {
            invocation: invocation.clone(),
            signal,
            whole_tree,
        }))
    }

    fn stop(
        &self,
        invocation: &InvocationId,
        sequence: StopSequence,
    ) -> BoxFuture<'_, Result<(), SpawnError>> {
        Box::pin(self.shared.ask_done(Request::Stop {
            invocation: invocation.clone(),
            sequence: convert::sequence(&sequence),
        }))
    }

    fn acknowledge(&self, invocation: &InvocationId) {
        self.shared.routes().forget(invocation);
        self.shared
            .run_errand(Errand::Acknowledge(invocation.clone()));
    }
}

impl Shared {
    pub(super) fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests go through this connection from now on.
    pub(super) fn connected(&self, connection: &driver::Connection) {
        self.routes().connect(Arc::clone(&connection.link));
        let welcome = &connection.welcome;
        self.state.send_replace(KeeperState {
            status: KeeperStatus {
                connected: true,
                pid: Some(welcome.pid),
                version: Some(welcome.version.clone()),
                protocol: Some(welcome.protocol),
            },
            owner: Some(welcome.pid),
            enforcement: welcome.enforcement.clone(),
            features: welcome.features.clone(),
        });
    }

    /// No request gets an answer until the next connection.
    pub(super) fn disconnected(&self) {
        self.routes().disconnect();
        self.state
            .send_modify(|state| state.status = KeeperStatus::default());
    }

    /// Does what nobody waits for.
    pub(super) fn run_errand(&self, errand: Errand) {
        let request = match errand {
            Errand::Acknowledge(invocation) => Request::Acknowledge { invocation },
            Errand::Stop(invocation) => Request::Stop {
                invocation,
                sequence: protocol::StopSequence {
                    kill_mode: harness_model::KillMode::ControlGroup,
                    kill_signal: Signal::KILL,
                    timeout_usec: Some(0),
                    final_kill_signal: Signal::KILL,
                },
            },
        };
        let Some((link, id)) = self.routes().post() else {
            return;
        };
        if let Err(error) = link.send(id, request, Vec::new()) {
            tracing::warn!(%error, "a request to the keeper cannot be written");
        }
    }

    /// A keeper that is being started anew is worth waiting for, before something is called failed.
    async fn await_connection(&self) {
        let mut state = self.state.subscribe();
        let connected = state.wait_for(|state| state.status.connected);
        if tokio::time::timeout(RECONNECT_PATIENCE, connected)
            .await
            .is_err()
        {
            tracing::warn!("the keeper has not answered for {RECONNECT_PATIENCE:?}");
        }
    }

    async fn ask(&self, request: Request, fds: Vec<OwnedFd>) -> Result<Answer, SpawnError> {
        let expected = self.routes().expect().ok_or(SpawnError::Unavailable)?;
        expected.exchange(request, fds).await
    }

    async fn ask_done(&self, request: Request) -> Result<(), SpawnError> {
        match self.ask(request, Vec::new()).await? {
            (Reply::Done {}, _) => Ok(()),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// What a keeper that an older daemon has left running does not enforce of a sandbox.
    fn ignored(&self, spawn: &protocol::Spawn) -> Result<Option<String>, SpawnError> {
        let knows = |name: &str| {
            self.state
                .borrow()
                .features
                .iter()
                .any(|other| other == name)
        };
        let rules = spawn.sandbox.as_ref().filter(|rules| !rules.is_default());
        let Some(rules) = rules else {
            return Ok(None);
        };
        let text = if !knows(protocol::FEATURE_SANDBOX) {
            "[sandbox] is not enforced: the keeper is older than the daemon; restart it when no task runs"
        } else if rules.executable.is_some() && !knows(protocol::FEATURE_EXECUTE) {
            "execute is not enforced: the keeper is older than the daemon; restart it when no task runs"
        } else {
            return Ok(None);
        };
        if rules.required {
            let missing = vec![text.to_owned()];
            return Err(SpawnError::Sandbox { missing });
        }
        Ok(Some(text.to_owned()))
    }

    async fn spawn(
        &self,
        spawn: protocol::Spawn,
        fds: Vec<OwnedFd>,
    ) -> Result<(Spawned, Vec<OwnedFd>), SpawnError> {
        self.await_connection().await;
        let ignored = self.ignored(&spawn)?;
        let invocation = spawn.invocation.clone();
        let (expected, events) = self
            .routes()
            .expect_run(&invocation)
            .ok_or(SpawnError::Unavailable)?;
        let asker = Asker {
            shared: self,
            invocation,
            settled: false,
        };
        match expected
            .exchange(Request::Spawn(Box::new(spawn)), fds)
            .await
        {
            Ok((
                Reply::Spawned {
                    pid,
                    started_at,
                    mut not_enforced,
                },
                fds,
            )) => {
                asker.settle();
                not_enforced.extend(ignored);
                let spawned = Spawned {
                    pid,
                    started_at,
                    not_enforced,
                    events,
                };
                Ok((spawned, fds))
            }
            Ok((other, _)) => Err(unexpected(other)),
            // It may exist: the asker's end has it stopped.
            Err(SpawnError::Unavailable) => Err(SpawnError::Unavailable),
            Err(error) => {
                self.routes().forget(&asker.invocation);
                asker.settle();
                Err(error)
            }
        }
    }
}

/// Has a process stopped that was started for someone who has gone.
struct Asker<'a> {
    shared: &'a Shared,
    invocation: InvocationId,
    settled: bool,
}

impl Asker<'_> {
    fn settle(mut self) {
        self.settled = true;
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        if !self.settled && self.shared.routes().disown(&self.invocation) {
            self.shared
                .run_errand(Errand::Stop(self.invocation.clone()));
        }
    }
}

fn pipes(which: [bool; 3], fds: Vec<OwnedFd>) -> Result<Pipes, SpawnError> {
    let mut fds = fds.into_iter();
    let mut next = |there: bool| -> Result<Option<OwnedFd>, SpawnError> {
        if !there {
            return Ok(None);
        }
        fds.next().map(Some).ok_or_else(|| SpawnError::System {
            step: "take the pipes from the keeper".to_owned(),
            error: "the daemon has no free descriptor: raise its limit of open files".to_owned(),
            retryable: true,
        })
    };
    let [stdin, stdout, stderr] = which;
    Ok(Pipes {
        stdin: next(stdin)?,
        stdout: next(stdout)?,
        stderr: next(stderr)?,
    })
}

fn unexpected(reply: Reply) -> SpawnError {
    let error = match reply {
        Reply::Failed(failure) => return convert::error(failure),
        Reply::Welcome(_)
        | Reply::Spawned { .. }
        | Reply::Done {}
        | Reply::Units(_)
        | Reply::Located(_)
        | Reply::Pipes { .. } => "the keeper answered something else".to_owned(),
    };
    SpawnError::System {
        step: "the request to the keeper".to_owned(),
        error,
        retryable: false,
    }
}

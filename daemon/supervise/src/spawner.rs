//! How the engine starts and signals processes without knowing who owns them.

use std::{os::fd::OwnedFd, path::PathBuf};

use futures_util::future::BoxFuture;
use harness_model::{
    ExitReport, InvocationId, KillMode, SandboxRules, Signal, Timestamp, UnitId, UnitKind,
};
use tokio::sync::mpsc;

/// What a child gets as its standard input, output or error.
#[derive(Debug)]
pub enum Stdio {
    /// `/dev/null`.
    Null,
    /// This descriptor, which the spawner takes over.
    Fd(OwnedFd),
}

/// How a stop is carried out; given with the spawn too, so that the rest of a tree is ended even
/// when nobody is there to ask for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopSequence {
    /// Which processes get which signal.
    pub kill_mode: KillMode,
    /// The first signal.
    pub kill_signal: Signal,
    /// How long until the last one; `None` waits for ever.
    pub timeout: Option<std::time::Duration>,
    /// The last signal.
    pub final_kill_signal: Signal,
}

/// Limits of the whole tree. `None`: no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeLimits {
    /// In bytes.
    pub memory_max: Option<u64>,
    /// Processes and threads.
    pub tasks_max: Option<u64>,
    /// In per cent of one processor.
    pub cpu_quota: Option<u32>,
    /// Kill the whole tree when the kernel kills one of it for want of memory.
    pub oom_group: bool,
    /// End the tree by `on_exit` when it is older, also when nobody is there to ask for it.
    pub runtime_max: Option<std::time::Duration>,
}

/// One process to start.
#[derive(Debug)]
pub struct SpawnRequest {
    /// The unit it is the main process of.
    pub unit: UnitId,
    /// This run of it.
    pub invocation: InvocationId,
    /// What the unit is for.
    pub kind: UnitKind,
    /// The program and its arguments; the program is looked up in the `PATH` of `environment`.
    pub argv: Vec<String>,
    /// The whole environment.
    pub environment: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Standard input.
    pub stdin: Stdio,
    /// Standard output.
    pub stdout: Stdio,
    /// Standard error.
    pub stderr: Stdio,
    /// Limits of the whole tree.
    pub limits: TreeLimits,
    /// How the rest of the tree is ended once the main process has ended.
    pub on_exit: StopSequence,
    /// What it may do with files and the network; for the kinds that are confined.
    pub sandbox: SandboxRules,
}

/// A process that was started.
#[derive(Debug)]
pub struct Spawned {
    /// Its pid, in the daemon's pid namespace.
    pub pid: i32,
    /// When it was started.
    pub started_at: Timestamp,
    /// What was asked for and cannot be enforced here, in words for a person.
    pub not_enforced: Vec<String>,
    /// What happens to it. It ends with `Ended` or `Lost`, or with the channel closing, which means `Lost`.
    pub events: mpsc::UnboundedReceiver<ProcessEvent>,
}

/// What happens to a process tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEvent {
    /// The main process has ended; the rest of the tree is being ended by `on_exit`.
    MainExited(ExitReport),
    /// The last signal of a stop was sent.
    FinalKill,
    /// The kernel killed a process of the tree for want of memory, while the main process may go on.
    OomKilled,
    /// Nothing of the tree is left (or it is left on purpose, by `kill_mode`).
    Ended(ExitReport),
    /// The owner of the process is gone, and nobody knows how it ended.
    Lost,
}

/// Why a process could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program in `PATH`, or its interpreter is missing.
    #[error("no such program: {program}: give its path, or add its directory to PATH")]
    NoSuchProgram {
        /// The program as asked for.
        program: String,
    },
    /// The working directory cannot be entered.
    #[error("cannot enter the directory {directory}: {error}")]
    Directory {
        /// The directory.
        directory: String,
        /// What the kernel said.
        error: String,
    },
    /// The kernel refused a step.
    #[error("{step} failed: {error}")]
    System {
        /// What was tried.
        step: String,
        /// What the kernel said.
        error: String,
        /// Whether later can help (`EAGAIN`, `ENOMEM`, `EMFILE`).
        retryable: bool,
    },
    /// The sandbox is required, and cannot be had.
    #[error("[sandbox] required = true, and not all of it is enforced here: {}", missing.join("; "))]
    Sandbox {
        /// What is not enforced, each in words for a person.
        missing: Vec<String>,
    },
    /// The owner of processes does not answer.
    #[error("the keeper does not answer: see `harnessctl status`")]
    Unavailable,
}

/// A process that was found alive, or ended and not yet acknowledged, after a restart of the daemon.
#[derive(Debug)]
pub struct Adopted {
    /// Its unit.
    pub unit: UnitId,
    /// The run.
    pub invocation: InvocationId,
    /// How long the main process has been running, on the monotonic clock: the wall clock may have
    /// been set since it was started.
    pub running_for: std::time::Duration,
    /// Its pid and the rest; the events of its past are in the channel already.
    pub spawned: Spawned,
}

/// The owner of processes. All methods are idempotent for an invocation that has ended.
pub trait Spawner: Send + Sync + 'static {
    /// Starts a process. When the future resolves the process exists; a dropped future may still start it.
    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<Spawned, SpawnError>>;

    /// Signals the main process, or the whole tree.
    fn signal(
        &self,
        invocation: &InvocationId,
        signal: Signal,
        whole_tree: bool,
    ) -> BoxFuture<'_, Result<(), SpawnError>>;

    /// Ends the tree; progress and end come as events.
    fn stop(
        &self,
        invocation: &InvocationId,
        sequence: StopSequence,
    ) -> BoxFuture<'_, Result<(), SpawnError>>;

    /// The end of this run is in the record: the owner may forget it.
    fn acknowledge(&self, invocation: &InvocationId);
}

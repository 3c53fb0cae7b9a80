//! What the keeper answers and tells.

use harness_model::{Enforcement, ExitReport, InvocationId, Timestamp, UnitId};
use serde::{Deserialize, Serialize};

/// What comes from the keeper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The answer to a request.
    Reply(ReplyFrame),
    /// Something happened to a run.
    Event(Event),
}

/// One answer as it stands on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplyFrame {
    /// The request's.
    pub id: u64,
    /// How many descriptors come with it.
    #[serde(default)]
    pub fds: u32,
    /// The answer.
    pub reply: Reply,
}

/// The answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// To `Hello`.
    Welcome(Welcome),
    /// To `Spawn`: the process exists. The pipe ends come in the order stdin, stdout, stderr.
    Spawned {
        /// Its pid in the keeper's pid namespace.
        pid: i32,
        /// When it was started.
        started_at: Timestamp,
        /// What was asked for and is not enforced here, in words for a person.
        #[serde(default)]
        not_enforced: Vec<String>,
    },
    /// It is done.
    Done {},
    /// To `List`.
    Units(Vec<ListedUnit>),
    /// To `Pipes`: which ends come with it.
    Pipes {
        /// One of them is the child's standard input.
        stdin: bool,
        /// Its standard output.
        stdout: bool,
        /// Its standard error.
        stderr: bool,
    },
    /// To `Locate`: the run, or none where the process is in no tree of the keeper's.
    Located(Option<Location>),
    /// It was not done.
    Failed(Failure),
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The version of the protocol that holds from here on.
    pub protocol: u32,
    /// The oldest version the keeper speaks.
    pub min: u32,
    /// The newest one.
    pub max: u32,
    /// What it can do beside the plain protocol.
    #[serde(default)]
    pub features: Vec<String>,
    /// Its pid.
    pub pid: u32,
    /// Its version, for people.
    pub version: String,
    /// Names this process and no other: a keeper that was started anew has another one.
    pub instance: String,
    /// Every protection, and whether it holds here.
    #[serde(default)]
    pub enforcement: Vec<Enforcement>,
}

/// A run that lives or is not acknowledged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedUnit {
    /// Its unit.
    pub unit: UnitId,
    /// The run.
    pub invocation: InvocationId,
    /// What the unit is for.
    #[serde(default)]
    pub kind: String,
    /// The pid of its main process.
    pub pid: i32,
    /// When that was started.
    pub started_at: Timestamp,
    /// How long ago that was, in microseconds of the monotonic clock.
    #[serde(default)]
    pub running_usec: u64,
    /// What was asked for and is not enforced here, in words for a person.
    #[serde(default)]
    pub not_enforced: Vec<String>,
    /// How the main process ended, if it has.
    #[serde(default)]
    pub main_exited: Option<ExitReport>,
    /// The kernel killed a process of the tree for want of memory while the main process was there.
    #[serde(default)]
    pub oom_killed: bool,
    /// The last signal of a stop was sent.
    #[serde(default)]
    pub final_kill: bool,
    /// The end of the whole tree, if it has come.
    #[serde(default)]
    pub ended: Option<ExitReport>,
    /// The keeper has kept pipe ends of it.
    #[serde(default)]
    pub pipes: bool,
}

/// A run that a process belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Its unit.
    pub unit: UnitId,
    /// The run.
    pub invocation: InvocationId,
}

/// What happens to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The main process has ended; the rest of the tree is being ended.
    MainExited {
        /// The run.
        invocation: InvocationId,
        /// How.
        exit: ExitReport,
    },
    /// The last signal of a stop was sent.
    FinalKill {
        /// The run.
        invocation: InvocationId,
    },
    /// The kernel killed a process of the tree for want of memory while the main process was there.
    ///
    /// Only for a daemon that has named the feature `oom-event`.
    OomKilled {
        /// The run.
        invocation: InvocationId,
    },
    /// Nothing of the tree is left, but for what `kill_mode` or the kernel left.
    Ended {
        /// The run.
        invocation: InvocationId,
        /// How.
        exit: ExitReport,
    },
    /// Another daemon has taken over; this connection is closed.
    Replaced {
        /// Its pid.
        pid: i32,
    },
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// This keeper does not know the request.
    #[error(
        "this keeper does not know {request:?}: it is older than the daemon, restart it when no task runs"
    )]
    Unsupported {
        /// The request's name.
        request: String,
    },
    /// The request cannot be read or makes no sense.
    #[error("{message}")]
    Invalid {
        /// What is wrong with it.
        message: String,
    },
    /// The peers have no version of the protocol in common.
    #[error(
        "this keeper speaks the protocol versions {min} to {max}: restart it with the program of the daemon's version"
    )]
    Version {
        /// The keeper's oldest.
        min: u32,
        /// The keeper's newest.
        max: u32,
    },
    /// There is no such program in `PATH`, or its interpreter is missing.
    #[error("no such program: {program}")]
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
    /// The sandbox is required, and cannot be had. The keeper names it only to who asks for a sandbox.
    #[error("the sandbox is required, and not all of it is enforced here: {}", missing.join("; "))]
    Sandbox {
        /// What is not enforced, each in words for a person.
        missing: Vec<String>,
    },
    /// The keeper has a run with this id already.
    #[error("the run {invocation} was started already")]
    Exists {
        /// The run.
        invocation: InvocationId,
    },
    /// The keeper has no such run, or nothing of the kind of it.
    #[error("the keeper has no {what} of the run {invocation}")]
    NotFound {
        /// What is missing.
        what: String,
        /// The run.
        invocation: InvocationId,
    },
}

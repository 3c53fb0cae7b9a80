//! What the daemon asks for.

use harness_model::{InvocationId, KillMode, SandboxRules, Signal, UnitId};
use serde::{Deserialize, Serialize};

/// One request as it stands on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestFrame {
    /// Chosen by the daemon; the reply carries it.
    pub id: u64,
    /// How many descriptors come with it.
    #[serde(default)]
    pub fds: u32,
    /// The request.
    pub request: Request,
}

/// What the daemon can ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The first request of a connection. The reply is `Welcome`.
    Hello(Hello),
    /// Starts a process. The reply is `Spawned`.
    Spawn(Box<Spawn>),
    /// Sends a signal. The reply is `Done`, also when the run has ended.
    Signal {
        /// The run.
        invocation: InvocationId,
        /// The signal.
        signal: Signal,
        /// To every process of its tree instead of the main one.
        #[serde(default)]
        whole_tree: bool,
    },
    /// Ends a tree. The reply is `Done` once the first signal is out, also when the run has ended.
    Stop {
        /// The run.
        invocation: InvocationId,
        /// How.
        sequence: StopSequence,
    },
    /// The end of a run is recorded: the keeper forgets it. The reply is `Done`.
    Acknowledge {
        /// The run.
        invocation: InvocationId,
    },
    /// Every run that lives or is not acknowledged. The reply is `Units`.
    List {},
    /// The daemon's ends of the pipes of a run that was started with `keep_pipes`. The reply is `Pipes`.
    Pipes {
        /// The run.
        invocation: InvocationId,
    },
    /// Which run a process belongs to. The reply is `Located`.
    ///
    /// Only for a keeper that names the feature `locate`.
    Locate {
        /// The process, in the keeper's pid namespace.
        pid: i32,
    },
    /// Closes the keeper's copies of those ends, so that the child sees the end of its input. The reply is `Done`.
    ClosePipes {
        /// The run.
        invocation: InvocationId,
    },
}

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The oldest version of the protocol it speaks.
    pub min: u32,
    /// The newest one.
    pub max: u32,
    /// What it can do beside the plain protocol.
    #[serde(default)]
    pub features: Vec<String>,
    /// Its pid, for people.
    pub pid: u32,
    /// Its version, for people.
    pub version: String,
}

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// The unit it is the main process of.
    pub unit: UnitId,
    /// This run of it.
    pub invocation: InvocationId,
    /// What the unit is for, as a word that the keeper only repeats.
    pub kind: String,
    /// The program and its arguments. The program is looked up in the `PATH` of `environment`.
    pub argv: Vec<String>,
    /// The whole environment; the keeper adds its own markers.
    pub environment: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: String,
    /// Standard input.
    #[serde(default)]
    pub stdin: Stdio,
    /// Standard output.
    #[serde(default)]
    pub stdout: Stdio,
    /// Standard error.
    #[serde(default)]
    pub stderr: Stdio,
    /// The keeper keeps a copy of the daemon's pipe ends, to hand them to a restarted daemon.
    #[serde(default)]
    pub keep_pipes: bool,
    /// Limits of the whole tree.
    #[serde(default)]
    pub limits: Limits,
    /// How the rest of the tree is ended once the main process has ended.
    pub on_exit: StopSequence,
    /// The Landlock domain it lives in, in which nothing can signal, trace or read the memory of anything
    /// outside, and its rules; none: it is not confined. A keeper that does not name the feature
    /// `sandbox` in its welcome knows the domain, and no rules; one that does not name `execute` does not know
    /// what may be executed.
    #[serde(default)]
    pub sandbox: Option<SandboxRules>,
}

/// What a child gets as a standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdio {
    /// `/dev/null`.
    #[default]
    Null,
    /// The next descriptor of the request.
    Fd,
    /// A new pipe, whose other end comes with the reply.
    Pipe,
}

/// Limits of a tree. `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// In bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_max: Option<u64>,
    /// Processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks_max: Option<u64>,
    /// In per cent of one processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<u32>,
    /// The kernel kills the whole tree when it kills one of it for want of memory.
    #[serde(default)]
    pub oom_group: bool,
    /// The keeper ends the tree by `on_exit` when it is older, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_max_usec: Option<u64>,
}

/// How a stop is carried out (systemd.kill(5)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopSequence {
    /// Which processes get which signal.
    pub kill_mode: KillMode,
    /// The first signal. `SIGCONT` follows it, as with systemd.
    pub kill_signal: Signal,
    /// How long until the last one, in microseconds; `None` waits for ever.
    pub timeout_usec: Option<u64>,
    /// The last signal.
    pub final_kill_signal: Signal,
}

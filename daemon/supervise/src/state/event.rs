//! What moves the machine, and what it asks for.

use harness_model::{ExitReport, InvocationId, Timestamp};

/// What happened to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Somebody starts it; this names the run.
    Start(InvocationId),
    /// The wait before its automatic restart is over; this names the run.
    RestartDue(InvocationId),
    /// Its main process exists.
    Spawned {
        /// The main process.
        pid: i32,
        /// When it was started.
        started_at: Timestamp,
        /// What was asked for and does not hold here.
        not_enforced: Vec<String>,
    },
    /// Its main process could not be started, for this reason.
    SpawnFailed(String),
    /// Its main process ended; the rest of the tree is being ended.
    MainExited(ExitReport),
    /// The last signal of a stop was sent.
    FinalKill,
    /// The kernel killed a process of it for want of memory.
    OomKilled,
    /// Nothing of it is left, or it is left on purpose.
    Ended(ExitReport),
    /// The owner of its processes is gone.
    Lost,
    /// `runtime_max_sec` passed.
    RuntimeMaxPassed,
    /// Somebody stops it.
    StopRequested,
    /// Somebody stops and starts it.
    RestartRequested,
    /// What it took to get here counts no more (`systemctl reset-failed`).
    ResetFailed,
    /// Something a person should know, such as output that could not be kept.
    Noted(String),
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Record that a run starts, then start its process.
    Spawn,
    /// End the tree.
    Stop,
    /// Record the state, and wait until that is done.
    Record,
    /// Record the state when there is time.
    Note,
    /// Start at once, as a new run.
    Start,
    /// Come to rest: record it, then tell everybody.
    Rest,
    /// The end of this run is recorded; its owner may forget it.
    Acknowledge(InvocationId),
}

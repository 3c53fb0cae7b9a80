//! One run, from its spawn until it is acknowledged and nothing of it is left.

use std::{
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use harness_keeper::protocol::{ListedUnit, Spawn, StopSequence};
use harness_model::{ExitReport, InvocationId, Timestamp, UnitId};

use crate::cgroup::UnitCgroup;

/// What the keeper knows of a run.
pub(crate) struct Unit {
    pub(crate) id: UnitId,
    pub(crate) kind: String,
    pub(crate) pid: i32,
    pub(crate) started_at: Timestamp,
    pub(crate) started: Instant,
    pub(crate) not_enforced: Vec<String>,
    /// How the rest is ended after the main process, or how a requested stop goes.
    pub(crate) sequence: StopSequence,
    pub(crate) cgroup: Option<UnitCgroup>,
    pub(crate) phase: Phase,
    /// When it is ended, if it still runs then.
    pub(crate) expires: Option<Instant>,
    /// The keeper has reaped the main process.
    pub(crate) exit: Option<ExitReport>,
    /// What the daemon has been told of its end.
    pub(crate) stage: Stage,
    pub(crate) final_kill: bool,
    /// So many of its processes the kernel has killed for want of memory, as the daemon was told.
    pub(crate) oom_kills: u64,
    /// Children of the keeper that came out of this tree and are not reaped yet.
    pub(crate) orphans: Vec<i32>,
    /// The daemon's ends of its pipes: stdin, stdout, stderr.
    pub(crate) pipes: [Option<OwnedFd>; 3],
}

/// What the daemon has been told of the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Nothing.
    Running,
    /// The main process has ended.
    MainEnded,
    /// Its report is final: the tree is empty, or what is left is named in it.
    Ended,
    /// And the daemon has recorded it.
    Acknowledged,
}

/// How far a stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was sent.
    Running,
    /// The first signal was sent; at the deadline comes the last.
    Terminating {
        /// `None`: never.
        deadline: Option<Instant>,
    },
    /// The last signal was sent; what is there at the deadline is a survivor.
    Killing {
        /// `None`: the survivors are named, or the main process has yet to give its status.
        deadline: Option<Instant>,
        /// It was `SIGKILL`.
        certain: bool,
    },
}

impl Unit {
    /// A run whose main process has just been started.
    pub(crate) fn new(
        request: &Spawn,
        pid: i32,
        cgroup: Option<UnitCgroup>,
        not_enforced: Vec<String>,
    ) -> Self {
        let started = Instant::now();
        Self {
            id: request.unit.clone(),
            kind: request.kind.clone(),
            pid,
            started_at: std::time::SystemTime::now().into(),
            started,
            not_enforced,
            sequence: request.on_exit.clone(),
            cgroup,
            phase: Phase::Running,
            expires: request
                .limits
                .runtime_max_usec
                .and_then(|usec| started.checked_add(Duration::from_micros(usec))),
            exit: None,
            stage: Stage::Running,
            final_kill: false,
            oom_kills: 0,
            orphans: Vec::new(),
            pipes: [const { None }; 3],
        }
    }

    /// Whether its main process is there or not reaped yet, so that its pid names it alone.
    pub(crate) fn has_main(&self) -> bool {
        self.exit.is_none()
    }

    /// When its stop goes on, or begins.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => self.expires,
            Phase::Terminating { deadline } | Phase::Killing { deadline, .. } => deadline,
        }
    }

    /// Whether its report is final.
    pub(crate) fn has_ended(&self) -> bool {
        self.stage >= Stage::Ended
    }

    /// As `List` shows it.
    pub(crate) fn listed(&self, invocation: &InvocationId) -> ListedUnit {
        let exit = self
            .exit
            .as_ref()
            .filter(|_| self.stage >= Stage::MainEnded);
        ListedUnit {
            unit: self.id.clone(),
            invocation: invocation.clone(),
            kind: self.kind.clone(),
            pid: self.pid,
            started_at: self.started_at,
            running_usec: u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
            not_enforced: self.not_enforced.clone(),
            main_exited: exit.cloned(),
            oom_killed: self.oom_kills > 0,
            final_kill: self.final_kill,
            ended: exit.filter(|_| self.has_ended()).cloned(),
            pipes: self.pipes.iter().any(Option::is_some),
        }
    }
}

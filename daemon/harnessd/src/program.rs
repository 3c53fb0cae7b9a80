//! The person's own programs that the daemon asks: hooks and the rater. A question on standard input, an answer on
//! standard output.
//!
//! Each run is a process of kind `hook` under the keeper, outside any task's domain. It has no row in the record: there
//! would be several for each call, for ever, and two commits before each; what it did to a call stands with the call.
//! So nothing takes one up again: a daemon that finds one of its predecessor's ends it, and the keeper ends it by
//! itself when it is too old.

use std::{
    fs::File,
    io::{self, Seek as _, Write as _},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use harness_model::{
    ExitStatus, InvocationId, KillMode, SandboxRules, Signal, TimeSpan, UnitId, UnitKind,
};
use harness_supervise::{
    ProcessEvent, SpawnError, SpawnRequest, Spawner, Stdio, StopSequence, TreeLimits, output::plain,
};
use rustix::{fs::MemfdFlags, pipe::PipeFlags};
use tokio::{io::AsyncReadExt as _, net::unix::pipe::Receiver, sync::mpsc, time::timeout};

/// The longest answer, in bytes.
const ANSWER_MAX: usize = 8 << 20;

/// How much of the end of standard error a message has, in bytes.
const STDERR_TAIL: usize = 1 << 10;

/// How much longer than the daemon the keeper waits before it ends a tree.
const GRACE: Duration = Duration::from_secs(5);

/// `SIGKILL` to everything, at once.
const KILL: StopSequence = StopSequence {
    kill_mode: KillMode::ControlGroup,
    kill_signal: Signal::KILL,
    timeout: Some(Duration::ZERO),
    final_kill_signal: Signal::KILL,
};

/// A program of the person's that is asked something.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// The whole environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Where it runs.
    pub(crate) cwd: PathBuf,
    /// How long it may take, its start included.
    pub(crate) timeout: Duration,
}

/// Why a program gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// It could not be started.
    #[error("it cannot be started: {0}")]
    Start(#[from] SpawnError),
    /// The daemon is short of memory or descriptors.
    #[error("its input and output cannot be set up: {0}")]
    Streams(#[from] io::Error),
    /// It took too long.
    #[error("it did not answer within {0} and was killed")]
    Timeout(TimeSpan),
    /// It wrote too much.
    #[error("its answer is longer than {ANSWER_MAX} bytes, and it was killed")]
    TooLong,
    /// It did not exit with 0.
    #[error("it ended with {status}{stderr}")]
    Failed {
        /// The exit code or signal.
        status: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// Nobody knows how it ended.
    #[error("the keeper that ran it is gone")]
    Lost,
}

impl Program {
    /// What people know it by: its file's name.
    pub(crate) fn name(&self) -> &str {
        let program = self.argv.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    /// Runs it on the question; its answer once it and all it started have ended. Dropped before, it is killed.
    pub(crate) async fn ask(
        &self,
        spawner: &Arc<dyn Spawner>,
        question: &[u8],
    ) -> Result<Vec<u8>, ProgramError> {
        let limit = self.timeout;
        timeout(limit, self.run(spawner, question))
            .await
            .unwrap_or_else(|_| Err(ProgramError::Timeout(limit.into())))
    }

    async fn run(
        &self,
        spawner: &Arc<dyn Spawner>,
        question: &[u8],
    ) -> Result<Vec<u8>, ProgramError> {
        let (mut stdout, write_stdout) = Stream::new(ANSWER_MAX)?;
        let (mut stderr, write_stderr) = Stream::new(STDERR_TAIL)?;
        let request = self.request(contents(question)?, write_stdout, write_stderr);
        let invocation = request.invocation.clone();
        let events = spawner.spawn(request).await?.events;
        let mut run = Run {
            spawner: Arc::clone(spawner),
            invocation,
            events: Some(events),
        };
        let mut status = None;
        while status.is_none() || stdout.open || stderr.open {
            tokio::select! {
                ended = run.ended(), if status.is_none() => status = Some(ended?),
                read = stdout.read(), if stdout.open => read?,
                read = stderr.read(), if stderr.open => read?,
            }
            if stdout.bytes.len() > ANSWER_MAX {
                return Err(ProgramError::TooLong);
            }
            stderr.keep_end();
        }
        match status {
            Some(ExitStatus::Exited(0)) => Ok(stdout.bytes),
            Some(status) => Err(ProgramError::Failed {
                status: in_words(status),
                stderr: tail(&stderr.bytes),
            }),
            None => Err(ProgramError::Lost),
        }
    }

    fn request(&self, stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> SpawnRequest {
        SpawnRequest {
            unit: UnitId::generate(),
            invocation: InvocationId::generate(),
            kind: UnitKind::Hook,
            argv: self.argv.clone(),
            environment: self.environment.clone(),
            cwd: self.cwd.clone(),
            stdin: Stdio::Fd(stdin),
            stdout: Stdio::Fd(stdout),
            stderr: Stdio::Fd(stderr),
            limits: TreeLimits {
                runtime_max: Some(self.timeout.saturating_add(GRACE)),
                ..TreeLimits::default()
            },
            on_exit: KILL,
            sandbox: SandboxRules::default(),
        }
    }
}

/// A run that is killed when nobody waits for it any more.
struct Run {
    spawner: Arc<dyn Spawner>,
    invocation: InvocationId,
    /// Until its end was heard.
    events: Option<mpsc::UnboundedReceiver<ProcessEvent>>,
}

impl Run {
    /// The main process's status, once nothing of the tree is left. Cancel safe.
    async fn ended(&mut self) -> Result<ExitStatus, ProgramError> {
        let Some(events) = &mut self.events else {
            return Err(ProgramError::Lost);
        };
        let end = end_of(events).await;
        self.events = None;
        self.spawner.acknowledge(&self.invocation);
        end.ok_or(ProgramError::Lost)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let Some(mut events) = self.events.take() else {
            return;
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            // The daemon is ending; the keeper ends the tree when its time is over.
            return;
        };
        let (spawner, invocation) = (Arc::clone(&self.spawner), self.invocation.clone());
        runtime.spawn(async move {
            if let Err(error) = spawner.stop(&invocation, KILL).await {
                tracing::warn!(%error, "a hook cannot be killed; the keeper does it when its time is over");
            }
            end_of(&mut events).await;
            spawner.acknowledge(&invocation);
        });
    }
}

/// How the run ended; `None` when its owner is gone. Cancel safe.
async fn end_of(events: &mut mpsc::UnboundedReceiver<ProcessEvent>) -> Option<ExitStatus> {
    loop {
        match events.recv().await? {
            ProcessEvent::Ended(exit) => return Some(exit.status),
            ProcessEvent::Lost => return None,
            ProcessEvent::MainExited(_) | ProcessEvent::FinalKill | ProcessEvent::OomKilled => {}
        }
    }
}

/// What comes out of one of a program's two pipes.
struct Stream {
    pipe: Receiver,
    bytes: Vec<u8>,
    /// How much of it is of use.
    limit: usize,
    open: bool,
}

impl Stream {
    /// A new pipe, and its end for the program.
    fn new(limit: usize) -> io::Result<(Self, OwnedFd)> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let stream = Self {
            pipe: Receiver::from_owned_fd(read)?,
            bytes: Vec::new(),
            limit,
            open: true,
        };
        Ok((stream, write))
    }

    /// Reads what is there, or its end. Cancel safe.
    async fn read(&mut self) -> io::Result<()> {
        self.open = self.pipe.read_buf(&mut self.bytes).await? > 0;
        Ok(())
    }

    /// Forgets what is older than the newest part.
    fn keep_end(&mut self) {
        if self.bytes.len() > 2 * self.limit {
            self.bytes.drain(..self.bytes.len() - self.limit);
        }
    }
}

/// A file in memory, which can be read at any pace or not at all.
fn contents(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create("question", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

fn in_words(status: ExitStatus) -> String {
    match status {
        ExitStatus::Exited(code) => format!("exit code {code}"),
        ExitStatus::Signaled { signal, .. } => format!("signal {signal}"),
    }
}

/// The end of standard error, as it stands in a message.
fn tail(bytes: &[u8]) -> String {
    let end = bytes.len().saturating_sub(STDERR_TAIL);
    let text = plain(&bytes[end..]);
    match text.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

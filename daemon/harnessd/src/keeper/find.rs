//! Getting a connection: to a keeper that lives, to one that is started, or to one that comes.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use harness_keeper::protocol::SOCKET_NAME;
use rustix::fs::inotify;
use tokio::io::unix::AsyncFd;

use super::{KeeperError, link::Link};

/// The program's name.
const PROGRAM: &str = "harness-keeper";

/// In user mode the keeper ends by itself after so many seconds without a daemon and anything to keep.
const IDLE_SECONDS: &str = "600";

/// Where the keeper is, and what to do when it is not.
#[derive(Debug, Clone)]
pub struct KeeperOptions {
    /// The directory of `keeper.sock`.
    pub runtime_directory: PathBuf,
    /// What to do when nothing answers there.
    pub start: KeeperStart,
}

/// What to do when no keeper answers.
#[derive(Debug, Clone)]
pub enum KeeperStart {
    /// User mode: start one, detached.
    Detached {
        /// The agent's name.
        agent: String,
        /// Names the state directory, so that the next keeper finds what a killed one left.
        state_id: String,
        /// The program; `None`: looked for beside the daemon, in libexec, and in `PATH`.
        program: Option<PathBuf>,
        /// Further arguments, such as `--no-cgroup`.
        arguments: Vec<String>,
    },
    /// System mode: the service manager brings it; wait until it does.
    Await,
}

impl KeeperOptions {
    pub(super) fn socket(&self) -> PathBuf {
        self.runtime_directory.join(SOCKET_NAME)
    }

    /// A connection, however long it takes in system mode.
    pub(super) async fn link(&self) -> Result<Link, KeeperError> {
        match &self.start {
            KeeperStart::Await => self.await_socket().await,
            KeeperStart::Detached { .. } => match self.try_link().await {
                Ok(link) => Ok(link),
                Err(error) if absent(&error) => {
                    let started = self.start().await;
                    // Another may have been faster.
                    match (self.try_link().await, started) {
                        (Ok(link), _) => Ok(link),
                        (Err(_), Err(error)) => Err(error),
                        (Err(error), Ok(())) => Err(self.unreachable(error)),
                    }
                }
                Err(error) => Err(self.unreachable(error)),
            },
        }
    }

    /// A connection to a keeper that is there now.
    pub(super) async fn try_link(&self) -> io::Result<Link> {
        Link::connect(&self.socket()).await
    }

    async fn await_socket(&self) -> Result<Link, KeeperError> {
        let watch = self.watch().map_err(|error| self.unreachable(error))?;
        loop {
            match self.try_link().await {
                Ok(link) => return Ok(link),
                Err(error) if absent(&error) => {}
                Err(error) => return Err(self.unreachable(error)),
            }
            let mut ready = watch
                .readable()
                .await
                .map_err(|error| self.unreachable(error))?;
            let mut events = [0; 4096];
            // Which of them does not matter: the next attempt tells.
            match rustix::io::read(watch.get_ref(), &mut events) {
                Ok(_) => {}
                Err(_) => ready.clear_ready(),
            }
        }
    }

    /// The keeper's socket appears by a rename, and accepts connections from then on.
    #[expect(
        deprecated,
        reason = "the form that replaces it is unsafe, and an `OwnedFd` keeps what that asks for"
    )]
    fn watch(&self) -> io::Result<AsyncFd<std::os::fd::OwnedFd>> {
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
        let flags = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        inotify::add_watch(&watch, &self.runtime_directory, flags)?;
        AsyncFd::with_interest(watch, tokio::io::Interest::READABLE)
    }

    async fn start(&self) -> Result<(), KeeperError> {
        let KeeperStart::Detached {
            agent,
            state_id,
            program,
            arguments,
        } = &self.start
        else {
            return Ok(());
        };
        let program = program
            .clone()
            .or_else(find_program)
            .ok_or(KeeperError::NoProgram)?;
        let mut command = command(&program);
        command
            .args([
                "--detach",
                "--exit-when-idle",
                IDLE_SECONDS,
                "--agent",
                agent,
            ])
            .args(["--state-id", state_id, "--runtime-dir"])
            .arg(&self.runtime_directory)
            .args(arguments);
        let failed = |message: String| KeeperError::Start {
            program: program.clone(),
            message,
        };
        let output = tokio::task::spawn_blocking(move || command.output())
            .await
            .map_err(|error| failed(error.to_string()))?
            .map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(failed(
                String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            ))
        }
    }

    fn unreachable(&self, source: io::Error) -> KeeperError {
        KeeperError::Socket {
            socket: self.socket(),
            source,
        }
    }
}

/// The daemon's environment may hold secrets: the keeper gets none of it but the marks of a harness around this one.
#[expect(
    clippy::disallowed_methods,
    reason = "the keeper is the one process the keeper cannot spawn"
)]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    let kept = env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        matches!(
            &*name,
            "PATH" | "HARNESS_KEEPER" | "HARNESS_UNIT" | "HARNESS_INVOCATION"
        )
    });
    command
        .env_clear()
        .envs(kept)
        .current_dir("/")
        .stdin(Stdio::null());
    command
}

/// Nobody listens there (yet).
fn absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

fn find_program() -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    let directory = own.parent()?;
    let path = env::var_os("PATH").unwrap_or_default();
    let near = [
        directory.to_owned(),
        directory.join("../libexec/harnessd"),
        directory.join("../libexec"),
    ];
    near.into_iter()
        .chain(env::split_paths(&path))
        .map(|directory| directory.join(PROGRAM))
        .find(|candidate| candidate.is_file())
}

//! A harness of the test's own: its directories, its daemon, its keeper, and proof that nothing is left.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, net::UnixDatagram},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

use crate::{
    binaries,
    command::{self, Output},
    http, mcp,
};

/// The longest any single step of a test may take.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A user that owns nothing else on this machine, one would hope.
const UNPRIVILEGED: u32 = 47_113;

/// Why no harness can be run as another user here, if so.
pub fn unprivileged_missing() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("becoming another user needs root".to_owned());
    }
    let mut probe = command::command("setpriv");
    let uid = UNPRIVILEGED.to_string();
    probe
        .args([
            "--clear-groups",
            "--reuid",
            &uid,
            "--regid",
            &uid,
            "test",
            "-x",
        ])
        .arg(binaries::program("harnessd"));
    match probe.status() {
        Ok(status) if status.success() => None,
        Ok(_) => Some("another user cannot reach the built programs".to_owned()),
        Err(error) => Some(format!("setpriv: {error}")),
    }
}

/// A running harness. Dropped, it is ended with its keeper, and nothing of it may be left.
pub struct Harness {
    uid: Option<u32>,
    directory: TempDir,
    config: String,
    daemon: Option<Child>,
}

impl Harness {
    /// A harness on the defaults, with a workspace of its own.
    pub fn start() -> Self {
        Self::with_config("")
    }

    /// A harness with lines of configuration beside `workspace`.
    pub fn with_config(config: &str) -> Self {
        let mut harness = Self::prepared(config);
        harness.start_daemon();
        harness
    }

    /// A harness whose daemon, and so whose keeper and tasks, run as an unprivileged user.
    pub fn unprivileged(config: &str) -> Self {
        let mut harness = Self::prepared(config);
        harness.uid = Some(UNPRIVILEGED);
        for path in ["", "work", "test.toml"] {
            std::os::unix::fs::chown(harness.path(path), Some(UNPRIVILEGED), Some(UNPRIVILEGED))
                .unwrap();
        }
        harness.start_daemon();
        harness
    }

    /// Directories and configuration, and no daemon yet.
    pub fn prepared(config: &str) -> Self {
        Self::prepared_in(&std::env::temp_dir(), config)
    }

    /// The same below a directory of the caller's choice.
    pub fn prepared_in(parent: &Path, config: &str) -> Self {
        // Short, since a socket's path has 107 bytes at most.
        let directory = tempfile::Builder::new()
            .prefix("hd")
            .tempdir_in(parent)
            .unwrap();
        fs::create_dir(directory.path().join("work")).unwrap();
        let harness = Self {
            uid: None,
            directory,
            config: config.to_owned(),
            daemon: None,
        };
        harness.write_config(config);
        harness
    }

    /// Leaves its directory behind when it ends: whoever gave the parent removes that.
    pub fn leave_directory(&mut self) {
        self.directory.disable_cleanup(true);
    }

    /// Replaces the configuration file; the daemon reads it at its start or reload.
    pub fn write_config(&self, config: &str) {
        let workspace = self.workspace().display().to_string();
        fs::write(
            self.path("test.toml"),
            format!("workspace = \"{workspace}\"\n{config}"),
        )
        .unwrap();
    }

    /// Starts the daemon and waits until it says that it is ready.
    pub fn start_daemon(&mut self) {
        let command = self.daemon_command();
        self.start_with(command);
    }

    /// The same with a command line of the test's own.
    pub fn start_with(&mut self, mut command: Command) {
        let notify = UnixDatagram::bind(self.fresh("notify")).unwrap();
        notify.set_read_timeout(Some(PATIENCE)).unwrap();
        // The daemon may run as another user.
        fs::set_permissions(self.path("notify"), fs::Permissions::from_mode(0o666)).unwrap();
        command.env("NOTIFY_SOCKET", self.path("notify"));
        let mut child = command.spawn().unwrap();
        let mut buffer = [0; 4096];
        loop {
            let length = notify.recv(&mut buffer).unwrap_or_else(|error| {
                kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL).unwrap_or_default();
                child.wait().unwrap();
                panic!("the daemon did not become ready ({error}):\n{}", self.log())
            });
            if String::from_utf8_lossy(&buffer[..length]).contains("READY=1") {
                break;
            }
        }
        self.daemon = Some(child);
    }

    /// The daemon's command line, its log going to `daemon.log`.
    pub fn daemon_command(&self) -> Command {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("daemon.log"))
            .unwrap();
        let program = binaries::program("harnessd");
        let mut command = match self.uid {
            None => command::command(program),
            Some(uid) => {
                let mut command = command::command("setpriv");
                command
                    .args([
                        "--clear-groups",
                        "--reuid",
                        &uid.to_string(),
                        "--regid",
                        &uid.to_string(),
                    ])
                    .arg(program);
                command
            }
        };
        command
            .args(["--agent", "test", "--config"])
            .arg(self.path("test.toml"))
            .arg("--state-dir")
            .arg(self.state())
            .arg("--runtime-dir")
            .arg(self.runtime())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .env_remove("NOTIFY_SOCKET");
        command
    }

    /// Kills the daemon with no chance to tidy up.
    pub fn kill_daemon(&mut self) {
        let mut daemon = self.daemon.take().expect("the daemon runs");
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    /// Asks the daemon to end, as systemd does, and waits.
    pub fn stop_daemon(&mut self) -> i32 {
        self.end_daemon(Signal::SIGTERM)
    }

    /// Ends the daemon as a person does with Ctrl-C, and waits.
    pub fn interrupt_daemon(&mut self) -> i32 {
        self.end_daemon(Signal::SIGINT)
    }

    fn end_daemon(&mut self, signal: Signal) -> i32 {
        let mut daemon = self.daemon.take().expect("the daemon runs");
        kill(Pid::from_raw(daemon.id().cast_signed()), signal).unwrap();
        command::wait(&mut daemon, PATIENCE)
            .unwrap_or_else(|| panic!("the daemon did not end:\n{}", self.log()))
    }

    /// The daemon's pid.
    pub fn daemon_pid(&self) -> i32 {
        self.daemon
            .as_ref()
            .expect("the daemon runs")
            .id()
            .cast_signed()
    }

    /// The keeper's pid, as the daemon knows it.
    pub fn keeper_pid(&self) -> i32 {
        let status = self.get("/v1/status");
        status["keeper"]["pid"]
            .as_i64()
            .unwrap_or_else(|| panic!("no keeper in {status}"))
            .try_into()
            .unwrap()
    }

    /// Whether a keeper listens.
    pub fn has_keeper(&self) -> bool {
        keeper_of(&self.runtime()).is_some()
    }

    /// Where tasks run.
    pub fn workspace(&self) -> PathBuf {
        self.path("work")
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The runtime directory.
    pub fn runtime(&self) -> PathBuf {
        self.path("run")
    }

    /// A path in the test's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What the configuration was started with.
    pub fn config(&self) -> &str {
        &self.config
    }

    fn fresh(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::remove_file(&path).unwrap_or_default();
        path
    }

    /// What the daemon logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("daemon.log")).unwrap_or_default()
    }

    /// `harnessctl` with these words.
    #[track_caller]
    pub fn ctl(&self, words: &[&str]) -> Output {
        let mut command = command::command(binaries::program("harnessctl"));
        command.arg("--runtime-dir").arg(self.runtime()).args(words);
        command::run(command, b"", PATIENCE)
    }

    /// A request to `control.sock` that has to succeed.
    #[track_caller]
    pub fn get(&self, path: &str) -> serde_json::Value {
        let reply = self.http("GET", path, None);
        assert_eq!(reply.status, 200, "GET {path}: {}", reply.body);
        reply.json()
    }

    /// A request with a body that has to succeed.
    #[track_caller]
    pub fn post(&self, path: &str, body: &serde_json::Value) -> serde_json::Value {
        let reply = self.http("POST", path, Some(&body.to_string()));
        assert!(
            (200..300).contains(&reply.status),
            "POST {path}: {} {}",
            reply.status,
            reply.body
        );
        reply.json()
    }

    /// Any request to `control.sock`.
    #[track_caller]
    pub fn http(&self, method: &str, path: &str, body: Option<&str>) -> http::Reply {
        http::request(&self.runtime().join("control.sock"), method, path, body)
    }

    /// The stream of events, from now on.
    #[track_caller]
    pub fn events(&self) -> http::Events {
        http::Events::open(&self.runtime().join("control.sock"))
    }

    /// An MCP session on `mcp.sock`.
    #[track_caller]
    pub fn mcp(&self, group: Option<&str>) -> mcp::Session {
        mcp::Session::open(&self.runtime().join("mcp.sock"), group)
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        let keeper = keeper_of(&self.runtime());
        if let Some(mut daemon) = self.daemon.take() {
            kill(Pid::from_raw(daemon.id().cast_signed()), Signal::SIGTERM).unwrap_or_default();
            command::wait(&mut daemon, PATIENCE);
        }
        if let Some(keeper) = keeper.or_else(|| keeper_of(&self.runtime())) {
            end(keeper);
        }
        if std::thread::panicking() {
            let log = self.log();
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            #[expect(
                clippy::print_stderr,
                reason = "the daemon's log belongs beside a failed test"
            )]
            {
                eprintln!("--- the daemon's last lines:\n{}", tail.join("\n"));
            }
        }
    }
}

/// The process that listens on `keeper.sock`, by its peer credentials.
fn keeper_of(runtime: &Path) -> Option<i32> {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    let socket = std::os::unix::net::UnixStream::connect(runtime.join("keeper.sock")).ok()?;
    getsockopt(&socket, PeerCredentials)
        .ok()
        .map(|credentials| credentials.pid())
}

/// Ends a process that is not our child: SIGTERM, and SIGKILL when it takes too long.
pub fn end(pid: i32) {
    use std::os::fd::AsFd;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    // A directory of /proc polls nothing, so the pidfd it is.
    let Some(pidfd) = crate::event::pidfd(pid) else {
        return;
    };
    for (signal, limit) in [(Signal::SIGTERM, 30_000_u16), (Signal::SIGKILL, 10_000)] {
        kill(Pid::from_raw(pid), signal).unwrap_or_default();
        let mut polled = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, PollTimeout::from(limit)).unwrap_or(0) > 0 {
            return;
        }
    }
}

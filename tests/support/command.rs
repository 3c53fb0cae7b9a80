//! Programs run by a test, with a time limit, so that a hang fails instead of hanging the run.

use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

/// What a finished program left.
#[derive(Debug)]
pub struct Output {
    /// Its exit code, or 128 and the signal.
    pub code: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// The standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// The output of a program that has to have succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }
}

/// A command, since only the keeper spawns in the product itself.
#[expect(
    clippy::disallowed_methods,
    reason = "tests start the programs under test"
)]
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// Runs to the end, feeding `input`; panics when it takes longer than `limit`.
#[track_caller]
pub fn run(mut command: Command, input: &[u8], limit: Duration) -> Output {
    let name = format!("{command:?}");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    std::thread::spawn(move || stdin.write_all(&input).unwrap_or_default());
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let code =
        wait(&mut child, limit).unwrap_or_else(|| panic!("{name}: still running after {limit:?}"));
    Output {
        code,
        stdout: stdout.recv().unwrap_or_default(),
        stderr: stderr.recv().unwrap_or_default(),
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap_or_default();
        sender
            .send(String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
    });
    receiver
}

/// Waits for a child; kills it and gives `None` when it takes longer than `limit`.
pub fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    let (done, timeout) = mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        let late = timeout.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
        if late {
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap_or_default();
        }
        late
    });
    let status = child.wait().unwrap();
    drop(done);
    if guard.join().unwrap() {
        return None;
    }
    Some(
        status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
    )
}

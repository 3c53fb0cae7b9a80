//! Programs that a tool runs: bounded in time and output, and ended when the call is cancelled.

use std::{
    ffi::OsStr,
    io::Read,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open},
};

use crate::{Call, Error, Result};

/// A program and its limits.
#[derive(Debug)]
pub struct Program {
    name: String,
    command: Command,
    time_limit: Duration,
    output_max: usize,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// How.
    pub status: ExitStatus,
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// There was more.
    pub truncated: bool,
    /// The end of its standard error, as text.
    pub stderr: String,
}

/// The most of standard error that is kept, in bytes.
const STDERR_MAX: usize = 8 * 1024;

impl Program {
    /// A program, looked up in `PATH`, which may run for 60 s and write 1 MiB.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "a plugin's host is a child of the keeper, and so is all that it starts"
    )]
    pub fn new(name: &str) -> Self {
        let mut command = Command::new(name);
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self {
            name: name.to_owned(),
            command,
            time_limit: Duration::from_mins(1),
            output_max: 1024 * 1024,
        }
    }

    /// With further arguments.
    #[must_use]
    pub fn args(mut self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(words);
        self
    }

    /// With a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// With another time limit.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// With another limit on its output, in bytes: what is beyond it is read and left out.
    #[must_use]
    pub fn output_max(mut self, bytes: usize) -> Self {
        self.output_max = bytes;
        self
    }

    /// Runs it to its end; what is left of its process group then is ended, too.
    ///
    /// # Errors
    /// It cannot be started, takes too long, or the call was cancelled.
    pub fn run<S>(mut self, call: &Call<'_, S>) -> Result<Finished> {
        let failed = |error: Error, name: &str| error.context(name);
        let child = self
            .command
            .spawn()
            .map_err(|error| failed(error.into(), &self.name))?;
        let mut running = Running::new(child)?;
        let ended = running.follow(self.output_max, self.time_limit, call.cancel_descriptor());
        match ended.map_err(|errno| failed(errno.into(), &self.name))? {
            Ended::Itself => running.finish(),
            Ended::Late => Err(Error::new(format!(
                "{} has not ended within {:?}, and was killed",
                self.name, self.time_limit
            ))),
            Ended::Cancelled => Err(Error::new(format!(
                "{} was killed: the call was cancelled",
                self.name
            ))),
        }
    }

    /// The same for a program whose success is its exit code 0; else its standard error is the failure.
    ///
    /// # Errors
    /// As [`Program::run`], and it has failed.
    pub fn succeed<S>(self, call: &Call<'_, S>) -> Result<Finished> {
        let name = self.name.clone();
        let finished = self.run(call)?;
        if finished.status.success() {
            return Ok(finished);
        }
        let said = finished.stderr.trim();
        Err(Error::new(if said.is_empty() {
            format!("{name} failed ({})", finished.status)
        } else {
            format!("{name} failed ({}): {said}", finished.status)
        }))
    }
}

/// Why it is not followed any more.
enum Ended {
    Itself,
    Late,
    Cancelled,
}

struct Running {
    child: Child,
    pidfd: OwnedFd,
    streams: (Option<ChildStdout>, Option<ChildStderr>),
    stdout: Vec<u8>,
    truncated: bool,
    stderr: Vec<u8>,
    waited_for: bool,
}

impl Running {
    fn new(mut child: Child) -> Result<Self> {
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Self {
            streams: (child.stdout.take(), child.stderr.take()),
            child,
            pidfd,
            stdout: Vec::new(),
            truncated: false,
            stderr: Vec::new(),
            waited_for: false,
        })
    }

    /// Reads what it writes until it has ended, it is late or nobody waits.
    fn follow(
        &mut self,
        output_max: usize,
        limit: Duration,
        cancel: Option<BorrowedFd<'_>>,
    ) -> rustix::io::Result<Ended> {
        let deadline = Instant::now() + limit;
        let mut has_ended = false;
        loop {
            // Once it has ended, what it has written is there: what others write later is not waited for.
            let left = if has_ended {
                Duration::ZERO
            } else {
                deadline.saturating_duration_since(Instant::now())
            };
            let [output, error, ended, cancelled] = self.ready(left, cancel)?;
            if cancelled {
                return Ok(Ended::Cancelled);
            }
            if output {
                self.read_output(output_max)?;
            }
            if error {
                self.read_error()?;
            }
            match (output || error, has_ended || ended) {
                (true, _) => {
                    if !has_ended && Instant::now() >= deadline {
                        return Ok(Ended::Late);
                    }
                }
                (false, true) if has_ended => return Ok(Ended::Itself),
                (false, true) => has_ended = true,
                (false, false) => return Ok(Ended::Late),
            }
        }
    }

    /// Which of its outputs can be read, whether it has ended, and whether nobody waits.
    fn ready(
        &self,
        left: Duration,
        cancel: Option<BorrowedFd<'_>>,
    ) -> rustix::io::Result<[bool; 4]> {
        let (stdout, stderr) = &self.streams;
        let descriptors = [
            stdout.as_ref().map(AsFd::as_fd),
            stderr.as_ref().map(AsFd::as_fd),
            Some(self.pidfd.as_fd()),
            cancel,
        ];
        let mut polled: Vec<PollFd<'_>> = (descriptors.iter().flatten())
            .map(|descriptor| PollFd::new(descriptor, PollFlags::IN))
            .collect();
        let left = Timespec::try_from(left).ok();
        loop {
            match poll(&mut polled, left.as_ref()) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        let mut answers = polled.iter().map(|one| !one.revents().is_empty());
        Ok(
            descriptors
                .map(|descriptor| descriptor.is_some() && answers.next().unwrap_or_default()),
        )
    }

    fn read_output(&mut self, output_max: usize) -> rustix::io::Result<()> {
        let mut piece = [0; 16 * 1024];
        let length = read(&mut self.streams.0, &mut piece)?;
        let kept = length.min(output_max - self.stdout.len());
        self.stdout.extend_from_slice(&piece[..kept]);
        self.truncated |= kept < length;
        Ok(())
    }

    fn read_error(&mut self) -> rustix::io::Result<()> {
        let mut piece = [0; 4 * 1024];
        let length = read(&mut self.streams.1, &mut piece)?;
        self.stderr.extend_from_slice(&piece[..length]);
        self.stderr
            .drain(..self.stderr.len().saturating_sub(STDERR_MAX));
        Ok(())
    }

    fn finish(mut self) -> Result<Finished> {
        let status = self.end()?;
        Ok(Finished {
            status,
            stdout: std::mem::take(&mut self.stdout),
            truncated: self.truncated,
            stderr: String::from_utf8_lossy(&self.stderr).into_owned(),
        })
    }
}

impl Running {
    /// Ends all of its group. The group's number is its own until it was waited for.
    fn end(&mut self) -> Result<ExitStatus> {
        if !self.waited_for {
            // None may be left of the group.
            kill_process_group(Pid::from_child(&self.child), Signal::KILL).unwrap_or_default();
            self.waited_for = true;
        }
        Ok(self.child.wait()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end().map(drop).unwrap_or_default();
    }
}

/// Reads once; at the end the stream is closed.
fn read(stream: &mut Option<impl Read>, piece: &mut [u8]) -> rustix::io::Result<usize> {
    let Some(open) = stream else { return Ok(0) };
    match open.read(piece) {
        Ok(0) => {
            *stream = None;
            Ok(0)
        }
        Ok(length) => Ok(length),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Program {
        Program::new("sh").args(["-c", script])
    }

    #[test]
    fn it_is_run_to_its_end_with_what_it_says() {
        let finished = sh("printf out; printf err >&2; exit 3")
            .run(&Call::of(&()))
            .unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(
            (finished.stdout.as_slice(), finished.stderr.as_str()),
            (&b"out"[..], "err")
        );
        let error = sh("echo why >&2; exit 3")
            .succeed(&Call::of(&()))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "sh failed (exit status: 3): why");
        let error = Program::new("no-such-program")
            .run(&Call::of(&()))
            .unwrap_err();
        assert!(error.to_string().contains("No such file"), "{error}");
    }

    #[test]
    fn its_output_is_bounded_and_never_holds_it_up() {
        let script = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo end >&2";
        let finished = sh(script).output_max(1000).succeed(&Call::of(&())).unwrap();
        assert_eq!(finished.stdout.len(), 1000);
        assert!(finished.truncated && finished.stderr.ends_with("end\n"));
        assert!(finished.stderr.len() <= STDERR_MAX);
    }

    #[test]
    fn it_is_killed_when_it_takes_too_long() {
        let limit = Duration::from_millis(200);
        let error = sh("sleep 1000 & echo x; sleep 1000")
            .time_limit(limit)
            .run(&Call::of(&()));
        let error = error.unwrap_err().to_string();
        assert_eq!(error, "sh has not ended within 200ms, and was killed");
    }

    #[test]
    fn what_it_leaves_behind_is_not_waited_for_and_ended() {
        let before = Instant::now();
        let finished = sh("sleep 1000 & echo $!").run(&Call::of(&())).unwrap();
        assert!(before.elapsed() < Duration::from_mins(1));
        let pid: i32 = String::from_utf8(finished.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let pid = Pid::from_raw(pid).unwrap();
        if let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) {
            let limit = Timespec {
                tv_sec: 60,
                tv_nsec: 0,
            };
            let ended = poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&limit));
            assert_eq!(ended, Ok(1));
        }
    }

    #[test]
    fn it_is_killed_when_nobody_waits() {
        struct Gone(OwnedFd);
        impl crate::call::Caller for Gone {
            fn progress(&self, _progress: f64, _total: f64, _message: &str) {}
            fn is_cancelled(&self) -> bool {
                true
            }
            fn cancel_descriptor(&self) -> Option<BorrowedFd<'_>> {
                Some(self.0.as_fd())
            }
        }
        // The other end is closed.
        let (gone, _) = rustix::pipe::pipe().unwrap();
        let error = sh("sleep 1000")
            .run(&Call::new(&(), &Gone(gone)))
            .unwrap_err();
        assert!(error.to_string().contains("was cancelled"), "{error}");
    }
}

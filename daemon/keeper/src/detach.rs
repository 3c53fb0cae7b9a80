//! Going into the background.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
    path::Path,
};

use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::setsid,
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};

/// How the process goes on after [`detach`].
pub(crate) enum Side {
    /// The one that was started: it waits for word and ends.
    Parent(Waiting),
    /// The one in the background.
    Child(Ready),
}

/// Hears from the child.
pub(crate) struct Waiting(File);

/// Tells the parent.
pub(crate) struct Ready(File);

impl Waiting {
    /// Waits until the child accepts connections; the error is what it says instead.
    pub(crate) fn wait(mut self) -> io::Result<()> {
        let mut word = String::new();
        self.0.read_to_string(&mut word)?;
        if word == "ready" {
            Ok(())
        } else if word.is_empty() {
            Err(io::Error::other("the keeper ended before it was ready"))
        } else {
            Err(io::Error::other(word))
        }
    }
}

impl Ready {
    /// The socket accepts connections.
    pub(crate) fn ready(mut self) {
        // A parent that is gone needs no word.
        drop(self.0.write_all(b"ready"));
    }

    /// It cannot start.
    pub(crate) fn failed(mut self, error: &io::Error) {
        drop(self.0.write_all(error.to_string().as_bytes()));
    }
}

/// Forks twice, so that the child is in a session of its own without being its leader, and reads from
/// and writes to nothing but `log`.
pub(crate) fn detach(log: &Path) -> io::Result<Side> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    if fork()? != 0 {
        drop(write);
        crate::wait::any();
        return Ok(Side::Parent(Waiting(read.into())));
    }
    drop(read);
    setsid()?;
    if fork()? != 0 {
        std::process::exit(0);
    }
    let null: OwnedFd = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?
        .into();
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(log)?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(log.as_fd())?;
    std::env::set_current_dir("/")?;
    Ok(Side::Child(Ready(write.into())))
}

#[expect(unsafe_code, reason = "fork has no safe form")]
fn fork() -> io::Result<i32> {
    // SAFETY: this process has one thread and is not being traced by anything that a fork would break.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(pid),
    }
}

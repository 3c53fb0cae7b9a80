//! systemd itself: a transient service over one D-Bus connection, in a box where it is PID 1.

use std::{
    io::{BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use harness_tests::{binaries, command::command};

use super::{Peer, installed};
use crate::{error::PeerError, session::read_line};

/// The exit code of `systemd-box` where it cannot run.
const SKIPPED: i32 = 77;

/// Runs one transient unit for each line that it is sent.
struct Systemd {
    boot: PathBuf,
    client: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

fn systemd_box(word: &str, boot: &Path) -> Command {
    let mut command = command("bash");
    command
        .arg(binaries::source().join("tests/testbed/systemd-box"))
        .arg(word)
        .arg(boot);
    command
}

pub(super) fn start(scratch: &Path) -> Result<Box<dyn Peer>, PeerError> {
    let python = installed("systemd", "systemd/bin/python")?;
    let script = binaries::source().join("bench/peers/transient.py");
    let boot = scratch.join("box");
    // The link to the interpreter is kept: an environment is found by it.
    let environment = installed("systemd", "systemd")?;
    let up = systemd_box("up", &boot)
        .arg(&environment)
        .arg(&script)
        .stdin(Stdio::null())
        .output()?;
    if up.status.code() == Some(SKIPPED) {
        let reason = String::from_utf8_lossy(&up.stdout).trim().to_owned();
        return Err(PeerError::NotInstalled { reason });
    }
    if !up.status.success() {
        let answer = String::from_utf8_lossy(&up.stderr).trim().to_owned();
        return Err(PeerError::Answer { answer });
    }
    drop(python);
    let mut client = systemd_box("exec", &boot)
        .arg(environment.join("bin/python"))
        .arg(&script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = client.stdin.take();
    let output = BufReader::new(client.stdout.take().expect("the output is a pipe"));
    Ok(Box::new(Systemd {
        boot,
        client,
        input,
        output,
    }))
}

impl Peer for Systemd {
    fn run(&mut self) -> Result<(), PeerError> {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(b"run\n")?;
        let mut line = String::new();
        read_line(&mut self.output, &mut line)?;
        if line == "done\n" {
            Ok(())
        } else {
            Err(PeerError::Answer {
                answer: format!("{line:?}"),
            })
        }
    }
}

impl Drop for Systemd {
    fn drop(&mut self) {
        drop(self.input.take());
        // The client, too, ends with the box.
        systemd_box("down", &self.boot)
            .stdout(Stdio::null())
            .status()
            .ok();
        self.client.wait().ok();
    }
}

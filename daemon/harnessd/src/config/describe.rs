//! What a plugin says of itself, for a check of its settings.
//!
//! The daemon never runs foreign code, and so never asks: a plugin's host checks its settings once more
//! before it begins. Only `--check` asks, as whoever calls it.

use std::{
    io::{self, Read as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open},
};
use serde::Deserialize;

/// The program's name.
const PROGRAM: &str = "harness-plugin-host";

/// How long a plugin may take to load, in seconds.
const LOAD_LIMIT: &str = "5";

/// How long the host may take beyond that.
const LIMIT: Duration = Duration::from_secs(10);

/// The longest description, in bytes.
const DESCRIPTION_MAX: u64 = 16 * 1024 * 1024;

/// The most of what a host says that is passed on, in bytes.
const REASON_MAX: usize = 1024;

/// The part of a description that a configuration can contradict.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Description {
    pub(super) settings_schema: Option<serde_json::Value>,
    pub(super) tools: Vec<DescribedTool>,
}

/// One of its tools.
#[derive(Debug, Deserialize)]
pub(super) struct DescribedTool {
    pub(super) name: String,
}

/// Beside the daemon, in libexec, and in `PATH`; where it is in none of them a path where it is not, either.
pub(super) fn find_host(program: Option<&Path>, search_path: &str) -> PathBuf {
    let directory = program.and_then(Path::parent);
    let near = directory.into_iter().flat_map(|directory| {
        ["", "../libexec/harnessd", "../libexec"].map(|relative| directory.join(relative))
    });
    near.chain(std::env::split_paths(search_path))
        .map(|directory| directory.join(PROGRAM))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| PathBuf::from("/").join(PROGRAM))
}

/// Asks a library what it is. The error is for a person.
pub(super) fn describe(host: &Path, library: &Path) -> Result<Description, String> {
    let mut child = command(host, library)
        .spawn()
        .map_err(|error| format!("{} cannot be started: {error}", host.display()))?;
    let description = beginning(child.stdout.take(), DESCRIPTION_MAX);
    let reason = end(child.stderr.take(), REASON_MAX);
    let status = wait(&mut child);
    // What it left behind would keep its output open.
    end_group(&child);
    let status = status.map_err(|error| format!("its host cannot be waited for: {error}"))?;
    let (description, reason) = (description.join(), reason.join());
    let reason = String::from_utf8_lossy(&reason.unwrap_or_default()).into_owned();
    let last = reason.lines().last().unwrap_or_default();
    let last = last.trim_start_matches("harness-plugin-host: ").trim();
    match status {
        None => Err(format!("its host has not ended within {LIMIT:?}")),
        Some(status) if !status.success() => Err(match (last, status.signal()) {
            ("", Some(signal)) => format!("its host was killed by signal {signal}"),
            ("", None) => format!("its host ended with {status}, and no reason"),
            (last, _) => last.to_owned(),
        }),
        Some(_) => serde_json::from_slice(&description.unwrap_or_default())
            .map_err(|error| format!("its description cannot be read: {error}")),
    }
}

/// It gets nothing of this process: neither secrets nor a terminal.
#[expect(
    clippy::disallowed_methods,
    reason = "a configuration is checked where there is no keeper"
)]
fn command(host: &Path, library: &Path) -> Command {
    let mut command = Command::new(host);
    command
        .args(["--describe", "--load-timeout", LOAD_LIMIT])
        .arg(library)
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Reads to the end, and keeps the beginning.
fn beginning(
    stream: Option<impl io::Read + Send + 'static>,
    limit: u64,
) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            // What could be read until an error is what there is.
            if stream.by_ref().take(limit).read_to_end(&mut kept).is_ok() {
                io::copy(&mut stream, &mut io::sink()).unwrap_or_default();
            }
        }
        kept
    })
}

/// Reads to the end, and keeps the end.
fn end(
    stream: Option<impl io::Read + Send + 'static>,
    limit: usize,
) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let (mut kept, mut piece) = (Vec::new(), [0; 8192]);
        let Some(mut stream) = stream else {
            return kept;
        };
        while let Ok(length) = stream.read(&mut piece)
            && length > 0
        {
            kept.extend_from_slice(&piece[..length]);
            kept.drain(..kept.len().saturating_sub(limit));
        }
        kept
    })
}

/// How it has ended; `None` when it has not within the limit, and was killed.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let limit = Timespec::try_from(LIMIT).ok();
    let ended = loop {
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], limit.as_ref()) {
            Ok(ready) => break ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    if !ended {
        child.kill()?;
    }
    let status = child.wait()?;
    Ok(ended.then_some(status))
}

fn end_group(child: &Child) {
    // There is none left when nothing was left behind.
    kill_process_group(Pid::from_child(child), Signal::KILL).unwrap_or_default();
}

//! Whether a process lives under the keeper: the agent's own processes never speak for the person.
//!
//! The keeper is the subreaper of its children, so every process it ever started has it as an
//! ancestor. Reading `/proc` is a race against exits and reused pids; each link is therefore
//! checked by start time, a "no" needs two equal readings, and whoever cannot be read is an error.

use std::{fs, io};

/// How often a reading is tried again when processes ended under it.
const ATTEMPTS: u32 = 16;

/// One keeper, and where its children are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperTree {
    /// The keeper's pid.
    pub pid: u32,
    /// The cgroup that holds the keeper and its children and nothing else, as `/proc/PID/cgroup`
    /// has it after `0::`. None where the keeper shares its cgroup with others.
    pub cgroup: Option<String>,
}

/// Whether `pid` is the keeper or a descendant of it.
///
/// # Errors
/// The process is gone or `/proc` does not show it (`hidepid`): nobody can tell, so refuse it.
pub fn lives_under(pid: u32, keeper: &KeeperTree) -> io::Result<bool> {
    if let Some(tree) = &keeper.cgroup
        && is_within(&cgroup_of(pid)?, tree)
    {
        return Ok(true);
    }
    let mut last: Option<Vec<Link>> = None;
    for _ in 0..ATTEMPTS {
        let Some(chain) = ancestry(pid)? else {
            last = None;
            continue;
        };
        if chain.iter().any(|link| link.pid == keeper.pid) {
            return Ok(true);
        }
        if last.as_ref() == Some(&chain) {
            return Ok(false);
        }
        last = Some(chain);
    }
    Err(io::Error::other(
        "its ancestors cannot be read; /proc must show them to the daemon (no hidepid, no ProtectProc)",
    ))
}

/// One process of a chain of parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Link {
    pid: u32,
    parent: u32,
    /// In clock ticks since boot (`starttime` of `proc_pid_stat(5)`).
    started: u64,
}

/// The chain from `pid` to the top of the pid namespace; `None` when it changed while it was read.
fn ancestry(pid: u32) -> io::Result<Option<Vec<Link>>> {
    let mut link = read_link(pid)?;
    let mut chain = vec![link];
    while link.parent != 0 {
        let parent = match read_link(link.parent) {
            Ok(parent) => parent,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // A parent younger than its child is another process under a reused pid.
        if parent.started > link.started {
            return Ok(None);
        }
        chain.push(parent);
        link = parent;
    }
    Ok(Some(chain))
}

fn read_link(pid: u32) -> io::Result<Link> {
    let stat =
        fs::read(format!("/proc/{pid}/stat")).map_err(|error| match error.raw_os_error() {
            // The process ended between open and read.
            Some(3) => io::Error::from(io::ErrorKind::NotFound),
            Some(_) | None => error,
        })?;
    parse_stat(pid, &stat).ok_or_else(|| io::Error::other("unreadable /proc/PID/stat"))
}

/// The name in parentheses may hold anything, a `)` included: fields count from the last one.
fn parse_stat(pid: u32, stat: &[u8]) -> Option<Link> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> = str::from_utf8(&stat[end + 1..])
        .ok()?
        .split_whitespace()
        .collect();
    Some(Link {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

fn cgroup_of(pid: u32) -> io::Result<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup"))?;
    let unified = text.lines().find_map(|line| line.strip_prefix("0::"));
    Ok(unified.unwrap_or_default().to_owned())
}

fn is_within(path: &str, tree: &str) -> bool {
    let tree = tree.trim_end_matches('/');
    path.strip_prefix(tree)
        .is_some_and(|rest| !tree.is_empty() && (rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
#[path = "lineage_tests.rs"]
mod tests;

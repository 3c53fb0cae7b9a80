//! Ending what a killed keeper has left, at the start of the next.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use harness_model::Signal;
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, PidfdFlags, pidfd_open},
    time::Timespec,
};

use crate::{
    process::{self, Process},
    signal,
    spawn::KEEPER_VARIABLE,
};

/// How long the processes may take to die.
const PATIENCE: Duration = Duration::from_secs(5);

/// New ones may be born while others are killed.
const ROUNDS: usize = 16;

/// Kills every process that carries the marker of this state, what descends from it and what shares
/// its session. Returns those that are still there, as `PID NAME`.
pub(crate) fn leftovers(state_id: &str) -> Vec<String> {
    let end = Instant::now() + PATIENCE;
    for _ in 0..ROUNDS {
        let found = find(state_id);
        if found.is_empty() {
            return Vec::new();
        }
        for process in &found {
            // One that is not to be signalled is named at the end.
            signal::send_to(process.pid, Signal::KILL, || still(process)).ok();
        }
        for process in &found {
            wait_gone(process, end);
        }
        if Instant::now() >= end {
            break;
        }
    }
    find(state_id).iter().map(Process::describe).collect()
}

fn find(state_id: &str) -> Vec<Process> {
    let all = process::all();
    let spared = ancestors(&all);
    let mut found: Vec<Process> = Vec::new();
    let mut seen: HashSet<i32> = HashSet::new();
    let mut sessions: HashSet<i32> = HashSet::new();
    for process in &all {
        if process.lives()
            && process::variable(process.pid, KEEPER_VARIABLE).as_deref() == Some(state_id)
        {
            seen.insert(process.pid);
        }
    }
    loop {
        let before = found.len();
        for process in all
            .iter()
            .filter(|process| process.lives() && !spared.contains(&process.pid))
        {
            let belongs = seen.contains(&process.pid)
                || seen.contains(&process.parent)
                || sessions.contains(&process.session);
            if belongs && !found.iter().any(|known| known.pid == process.pid) {
                seen.insert(process.pid);
                // A session that one of the spared is in is not the task's own.
                if !all
                    .iter()
                    .any(|other| spared.contains(&other.pid) && other.session == process.session)
                {
                    sessions.insert(process.session);
                }
                found.push(process.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// This process and those it descends from.
fn ancestors(all: &[Process]) -> HashSet<i32> {
    let mut ancestors = HashSet::from([0, 1]);
    let mut current = i32::try_from(std::process::id()).unwrap_or(0);
    while ancestors.insert(current) {
        current = all
            .iter()
            .find(|process| process.pid == current)
            .map_or(0, |process| process.parent);
    }
    ancestors
}

fn still(process: &Process) -> bool {
    Process::read(process.pid).is_some_and(|now| now.start_time == process.start_time)
}

fn wait_gone(process: &Process, end: Instant) {
    let Some(Ok(descriptor)) =
        Pid::from_raw(process.pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()))
    else {
        return;
    };
    if still(process)
        && let Ok(left) = Timespec::try_from(end.saturating_duration_since(Instant::now()))
    {
        // Interrupted or timed out, it is looked at again.
        poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&left)).ok();
    }
}

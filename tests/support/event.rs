//! Waiting for what happens instead of for time to pass.

use std::{
    os::fd::{AsFd, OwnedFd},
    path::Path,
    time::{Duration, Instant},
};

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::inotify::{AddWatchFlags, InitFlags, Inotify},
};

/// A descriptor that becomes readable when the process ends, or `None` when there is none.
pub fn pidfd(pid: i32) -> Option<OwnedFd> {
    rustix::process::Pid::from_raw(pid)
        .and_then(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok())
}

/// Waits until the process is gone.
#[track_caller]
pub fn ended(pid: i32, limit: Duration) {
    let Some(pidfd) = pidfd(pid) else { return };
    let mut polled = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
    let limit = PollTimeout::try_from(limit).unwrap();
    assert!(
        poll(&mut polled, limit).unwrap() > 0,
        "process {pid} still lives after {limit:?}"
    );
}

/// Whether the process lives and is no zombie.
pub fn lives(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim_start()
            .starts_with(['Z', 'X'])
    })
}

/// Waits until a file satisfies `is_so`, woken by changes in its directory.
#[track_caller]
pub fn file(path: &Path, limit: Duration, is_so: impl Fn(&str) -> bool) -> String {
    let inotify = Inotify::init(InitFlags::IN_CLOEXEC).unwrap();
    let directory = path.parent().unwrap();
    let flags = AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_MOVED_TO;
    inotify.add_watch(directory, flags).unwrap();
    let deadline = Instant::now() + limit;
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if is_so(&text) {
            return text;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(
            !left.is_zero(),
            "{} did not come to be as expected: {text:?}",
            path.display()
        );
        let mut polled = [PollFd::new(inotify.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, PollTimeout::try_from(left).unwrap()).unwrap() > 0 {
            inotify.read_events().unwrap();
        }
    }
}

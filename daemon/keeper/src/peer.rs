//! Who may talk to the keeper.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::{
    event::{PollFd, PollFlags, poll},
    net::sockopt::socket_peercred,
    process::{Pid, PidfdFlags, getuid, pidfd_open},
    time::Timespec,
};

use crate::{
    keeper::Keeper,
    process::{self, Process},
};

impl Keeper {
    /// The peer's pid if it may talk, else why not.
    ///
    /// It has to be root, the keeper's own user or one that was named at the start, and must not live
    /// under the keeper: no task can reach what owns it, whatever its uid.
    pub(crate) fn admit(&self, socket: impl AsFd) -> Result<i32, String> {
        let credentials =
            socket_peercred(&socket).map_err(|error| format!("no credentials: {error}"))?;
        let uid = credentials.uid.as_raw();
        let pid = credentials.pid.as_raw_nonzero().get();
        if uid != 0 && uid != getuid().as_raw() && !self.allowed_uids.contains(&uid) {
            return Err(format!(
                "the user {uid} of the process {pid} is not allowed: start the keeper with --daemon-uid {uid}"
            ));
        }
        let process = peer_process(&socket, credentials.pid)
            .ok_or_else(|| format!("the process {pid} has ended"))?;
        let under = self.lives_under(pid);
        // What was read is about the peer only if it is still there; else the pid may be another's now.
        let ended = poll(
            &mut [PollFd::new(&process, PollFlags::IN)],
            Some(&Timespec::default()),
        );
        if ended != Ok(0) {
            return Err(format!("the process {pid} has ended"));
        }
        if under {
            return Err(format!("the process {pid} lives under the keeper"));
        }
        Ok(pid)
    }

    fn lives_under(&self, pid: i32) -> bool {
        let in_unit = self.hierarchy.as_ref().is_some_and(|hierarchy| {
            process::cgroup(pid).is_none_or(|cgroup| hierarchy.unit_of(&cgroup).is_some())
        });
        in_unit || descends(pid, i32::try_from(std::process::id()).unwrap_or(0))
    }
}

fn descends(pid: i32, keeper: i32) -> bool {
    let mut current = pid;
    while current > 1 {
        // One that ends while the walk is at it hands its children to the keeper: not knowing is a refusal.
        let Some(process) = Process::read(current) else {
            return true;
        };
        if process.parent == keeper {
            return true;
        }
        current = process.parent;
    }
    false
}

/// The process that made the connection, by a descriptor that no other process can come under.
#[expect(unsafe_code, reason = "SO_PEERPIDFD has no safe form")]
fn peer_process(socket: impl AsFd, pid: Pid) -> Option<OwnedFd> {
    let mut descriptor = -1;
    let mut length = libc::socklen_t::try_from(size_of_val(&descriptor)).ok()?;
    // SAFETY: the pointers are to live values of the lengths given, and the descriptor is new.
    unsafe {
        let result = libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERPIDFD,
            (&raw mut descriptor).cast(),
            &raw mut length,
        );
        if result == 0 && descriptor >= 0 {
            return Some(OwnedFd::from_raw_fd(descriptor));
        }
    }
    // Before Linux 6.5.
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

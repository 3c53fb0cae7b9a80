//! wait(2), with what the children used.

use harness_model::{ExitStatus, Signal, Usage};
use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, waitid},
};

/// The pid of a child that has ended and not been reaped, if there is one.
#[expect(unsafe_code, reason = "the safe forms of waitid hide the pid")]
pub(crate) fn ended_child() -> Option<i32> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: all zero is a valid siginfo_t, and waitid(2) writes no more than one.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        if libc::waitid(libc::P_ALL, 0, &raw mut info, options) != 0 {
            return None;
        }
        Some(info.si_pid()).filter(|pid| *pid != 0)
    }
}

/// Reaps a child that has ended.
///
/// # Errors
/// It is no child of this process.
#[expect(unsafe_code, reason = "only wait4 tells the usage of one child")]
pub(crate) fn reap(pid: i32) -> Result<(ExitStatus, Usage), Errno> {
    let mut status = 0;
    // SAFETY: all zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live values.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if reaped == pid {
            return Ok((exit_status(status), used(&usage)));
        }
        match Errno::from_io_error(&std::io::Error::last_os_error()) {
            Some(Errno::INTR) => {}
            error => return Err(error.unwrap_or(Errno::CHILD)),
        }
    }
}

/// Reaps a child that failed to become a program and is about to end.
pub(crate) fn discard(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        while matches!(
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED),
            Err(Errno::INTR)
        ) {}
    }
}

fn exit_status(status: i32) -> ExitStatus {
    if libc::WIFSIGNALED(status)
        && let Some(signal) = Signal::from_number(libc::WTERMSIG(status))
    {
        ExitStatus::Signaled {
            signal,
            core_dump: libc::WCOREDUMP(status),
        }
    } else {
        ExitStatus::Exited(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX))
    }
}

fn used(usage: &libc::rusage) -> Usage {
    let micros = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0)
    };
    Usage {
        user_usec: micros(usage.ru_utime),
        system_usec: micros(usage.ru_stime),
        max_rss_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
    }
}

/// Waits for the one child there is.
pub(crate) fn any() {
    while matches!(waitid(WaitId::All, WaitIdOptions::EXITED), Err(Errno::INTR)) {}
}

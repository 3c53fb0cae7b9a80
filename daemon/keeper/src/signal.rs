//! Signals, received and sent.

use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    ptr,
};

use harness_model::Signal;
use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, pidfd_open},
};

/// Sets every signal to its default and blocks it: children inherit no ignored signal, and those for
/// the keeper are read from the descriptor that this returns.
#[expect(unsafe_code, reason = "signal dispositions and signalfd")]
pub(crate) fn take_over() -> io::Result<OwnedFd> {
    // SAFETY: all zero is an empty set and the default action; the pointers are to live values, and the
    // descriptor is new.
    unsafe {
        // Larger than the kernel's own structure, which the C library does not let through for 32 and 33.
        let default = [0_u64; 8];
        for number in 1..=64 {
            // Fails for the two that cannot be changed.
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                default.as_ptr(),
                ptr::null_mut::<u64>(),
                size_of::<u64>(),
            );
        }
        let mut every: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut every);
        // A fault of the keeper itself must end it.
        for number in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGABRT,
        ] {
            libc::sigdelset(&raw mut every, number);
        }
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const every, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut own: libc::sigset_t = std::mem::zeroed();
        for number in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT] {
            libc::sigaddset(&raw mut own, number);
        }
        match libc::signalfd(-1, &raw const own, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// The signals that came since the last call.
pub(crate) fn received(descriptor: &OwnedFd) -> Vec<i32> {
    const SIZE: usize = size_of::<libc::signalfd_siginfo>();
    let mut numbers = Vec::new();
    let mut buffer = [0; 8 * SIZE];
    while let Ok(length) = rustix::io::read(descriptor, &mut buffer) {
        let (entries, _) = buffer[..length].as_chunks::<SIZE>();
        // The signal's number comes first.
        numbers.extend(entries.iter().filter_map(|entry| {
            let number = entry.first_chunk()?;
            i32::try_from(u32::from_ne_bytes(*number)).ok()
        }));
        if length < buffer.len() {
            break;
        }
    }
    numbers
}

/// Signals a child that is not reaped yet, so that its pid names it alone.
#[expect(unsafe_code, reason = "the safe form knows no real-time signals")]
pub(crate) fn send_to_child(pid: i32, signal: Signal) -> Result<(), Errno> {
    // SAFETY: plain numbers.
    result(unsafe { libc::kill(pid, signal.number()) }.into())
}

/// Signals every process of a group.
#[expect(unsafe_code, reason = "the safe form knows no real-time signals")]
pub(crate) fn send_to_group(group: i32, signal: Signal) -> Result<(), Errno> {
    // SAFETY: plain numbers.
    result(unsafe { libc::kill(-group, signal.number()) }.into())
}

/// Signals the process with this pid if `is_same` says, once its descriptor is held, that it is still the one that was meant.
#[expect(unsafe_code, reason = "the safe form knows no real-time signals")]
pub(crate) fn send_to(
    pid: i32,
    signal: Signal,
    is_same: impl FnOnce() -> bool,
) -> Result<(), Errno> {
    let pid = Pid::from_raw(pid).ok_or(Errno::SRCH)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    if !is_same() {
        return Err(Errno::SRCH);
    }
    // SAFETY: a live descriptor, plain numbers, and no siginfo.
    result(unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            signal.number(),
            ptr::null::<libc::siginfo_t>(),
            0,
        )
    })
}

fn result(returned: i64) -> Result<(), Errno> {
    if returned < 0 {
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    } else {
        Ok(())
    }
}

//! Takes the protocol away from where a plugin could get at it.

use std::{
    fs::{File, OpenOptions},
    io,
    os::fd::OwnedFd,
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::fcntl_dupfd_cloexec,
    stdio,
};

/// The two directions of the protocol.
pub(crate) struct Streams {
    pub(crate) input: File,
    pub(crate) output: File,
}

/// Moves both to descriptors of their own, which no child inherits. From then on standard input is empty and
/// what is printed on standard output goes to standard error.
pub(crate) fn take() -> io::Result<Streams> {
    let streams = Streams {
        input: apart(stdio::stdin())?,
        output: apart(stdio::stdout())?,
    };
    let null = OpenOptions::new().read(true).open("/dev/null")?;
    stdio::dup2_stdin(&null)?;
    stdio::dup2_stdout(stdio::stderr())?;
    Ok(streams)
}

/// The number is above those that programs name outright.
fn apart(stream: rustix::fd::BorrowedFd<'_>) -> io::Result<File> {
    let own: OwnedFd = fcntl_dupfd_cloexec(stream, 10)?;
    // Reads and writes wait, whatever whoever opened it has wanted of it.
    let flags = fcntl_getfl(&own)?;
    if flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(&own, flags - OFlags::NONBLOCK)?;
    }
    Ok(own.into())
}

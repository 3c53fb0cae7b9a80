//! Bytes and descriptors through a Unix stream socket.

use std::{
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};

/// As many descriptors go with one frame at most: standard input, output and error.
pub const FDS_MAX: usize = 3;

/// What one read brought.
#[derive(Debug)]
pub struct Received {
    /// How many bytes; 0 at the end of the stream.
    pub bytes: usize,
    /// The descriptors that came with them, or `None` when none were sent. They are close-on-exec.
    ///
    /// Some may be missing when the process has no free descriptor.
    pub fds: Option<Vec<OwnedFd>>,
}

/// Reads what is there without waiting.
///
/// # Errors
/// `EAGAIN` when nothing is there, and what recvmsg(2) says otherwise.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> Result<Received, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FDS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let message = recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut control, flags)?;
    let mut fds = message.flags.contains(ReturnFlags::CTRUNC).then(Vec::new);
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(arrived) = part {
            fds.get_or_insert_default().extend(arrived);
        }
    }
    Ok(Received {
        bytes: message.bytes,
        fds,
    })
}

/// Writes what fits without waiting, and says how many bytes that were. With the first byte go all of `fds`.
///
/// # Errors
/// `EAGAIN` when nothing fits, and what sendmsg(2) says otherwise.
pub fn send(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FDS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(Errno::INVAL);
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)
}

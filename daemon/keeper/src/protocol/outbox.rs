//! Frames that wait until the socket takes them.

use std::{
    collections::VecDeque,
    os::fd::{AsFd, OwnedFd},
};

use rustix::io::Errno;

use super::send;

/// What has still to be written, in order.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: VecDeque<Waiting>,
    bytes: usize,
}

#[derive(Debug)]
struct Waiting {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<OwnedFd>,
}

impl Outbox {
    /// Adds a frame and the descriptors that go with it, which are closed once they are sent.
    pub fn push(&mut self, frame: Vec<u8>, fds: Vec<OwnedFd>) {
        self.bytes += frame.len();
        self.queue.push_back(Waiting {
            bytes: frame,
            sent: 0,
            fds,
        });
    }

    /// How many bytes wait.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Writes what fits without waiting. Whether everything is out now.
    ///
    /// # Errors
    /// What sendmsg(2) says, but for `EAGAIN`. The frame it happened at stays first.
    pub fn flush(&mut self, socket: impl AsFd) -> Result<bool, Errno> {
        while let Some(first) = self.queue.front_mut() {
            let fds: Vec<_> = first.fds.iter().map(AsFd::as_fd).collect();
            match send(&socket, &first.bytes[first.sent..], &fds) {
                Ok(sent) => {
                    first.fds.clear();
                    first.sent += sent;
                    self.bytes -= sent;
                    if first.sent == first.bytes.len() {
                        self.queue.pop_front();
                    }
                }
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

//! One connection to the keeper.

use std::os::fd::OwnedFd;

use harness_keeper::protocol::{
    Decoder, Event, Failure, Message, Outbox, Reply, ReplyFrame, encode,
};

/// A daemon that leaves so much unread is disconnected; the list tells it everything when it comes back.
const UNREAD_MAX: usize = 32 << 20;

/// A peer that was let in.
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    pub(crate) pid: i32,
    pub(crate) decoder: Decoder,
    pub(crate) outbox: Outbox,
    /// What it can do beside the plain protocol, once it has said hello and got an answer that it can use.
    pub(crate) features: Option<Vec<String>>,
    /// Nothing more can be read from it or written to it.
    pub(crate) broken: bool,
    /// epoll(7) is told to wait until it can be written to.
    pub(crate) waits_to_write: bool,
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd, pid: i32) -> Self {
        Self {
            socket,
            pid,
            decoder: Decoder::default(),
            outbox: Outbox::default(),
            features: None,
            broken: false,
            waits_to_write: false,
        }
    }

    /// Whether it said in its hello that it can do this.
    pub(crate) fn can(&self, feature: &str) -> bool {
        let features = self.features.iter().flatten();
        features.into_iter().any(|other| other == feature)
    }

    /// Queues the answer to a request.
    pub(crate) fn reply(&mut self, id: u64, reply: Reply, fds: Vec<OwnedFd>) {
        let count = u32::try_from(fds.len()).unwrap_or(0);
        self.queue(
            &Message::Reply(ReplyFrame {
                id,
                fds: count,
                reply,
            }),
            fds,
        );
    }

    /// Queues the answer that a request failed.
    pub(crate) fn fail(&mut self, id: u64, failure: Failure) {
        self.reply(id, Reply::Failed(failure), Vec::new());
    }

    /// Queues an event.
    pub(crate) fn event(&mut self, event: &Event) {
        self.queue(&Message::Event(event.clone()), Vec::new());
    }

    fn queue(&mut self, message: &Message, fds: Vec<OwnedFd>) {
        match encode(message) {
            Ok(frame) if self.outbox.bytes() + frame.len() <= UNREAD_MAX => {
                self.outbox.push(frame, fds);
            }
            Ok(_) | Err(_) => self.broken = true,
        }
    }

    /// Writes what the peer takes. Whether more waits.
    pub(crate) fn flush(&mut self) -> bool {
        // Too many descriptors in flight are an error too: a daemon that reads none of them starts anew.
        let flushed = self.outbox.flush(&self.socket);
        self.broken |= flushed.is_err();
        flushed == Ok(false)
    }
}

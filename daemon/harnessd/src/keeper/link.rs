//! One connection to the keeper.

use std::{
    io,
    os::fd::OwnedFd,
    path::Path,
    sync::{Mutex, PoisonError},
};

use harness_keeper::protocol::{
    Decoder, Message, Outbox, ReplyFrame, Request, RequestFrame, encode,
};
use rustix::io::Errno;
use serde::Deserialize;
use tokio::{io::unix::AsyncFd, net::UnixStream, sync::Notify};

/// The writing half is shared by all who make requests, the reading half belongs to the driver.
pub(super) struct Link {
    socket: AsyncFd<OwnedFd>,
    outbox: Mutex<Outbox>,
    more: Notify,
}

/// What the keeper said.
pub(super) enum Incoming {
    /// A message and the descriptors of a reply.
    Message(Message, Vec<OwnedFd>),
    /// A reply that this daemon cannot read: the keeper is newer.
    UnreadableReply(u64),
    /// Something else that it cannot read.
    Unreadable(String),
}

#[derive(Deserialize)]
struct Head {
    reply: Option<ReplyHead>,
}

#[derive(Deserialize)]
struct ReplyHead {
    id: u64,
    #[serde(default)]
    fds: u32,
}

impl Link {
    pub(super) async fn connect(path: &Path) -> io::Result<Self> {
        let socket = UnixStream::connect(path).await?.into_std()?;
        let socket: OwnedFd = socket.into();
        Ok(Self {
            socket: AsyncFd::new(socket)?,
            outbox: Mutex::default(),
            more: Notify::new(),
        })
    }

    /// Writes a request; what does not fit now is written by the driver.
    pub(super) fn send(&self, id: u64, request: Request, fds: Vec<OwnedFd>) -> io::Result<()> {
        let count = u32::try_from(fds.len()).unwrap_or(0);
        let frame = RequestFrame {
            id,
            fds: count,
            request,
        };
        let frame = encode(&frame).map_err(io::Error::other)?;
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.push(frame, fds);
        match outbox.flush(self.socket.get_ref()) {
            // Whoever filled the socket has woken the driver; the reader finds out about a broken one.
            Ok(true) | Err(_) => {}
            Ok(false) => self.more.notify_one(),
        }
        Ok(())
    }

    /// Writes what did not fit, whenever there is some. Returns when the connection is broken.
    pub(super) async fn write(&self) {
        loop {
            self.more.notified().await;
            loop {
                let Ok(mut ready) = self.socket.writable().await else {
                    return;
                };
                match self.flush() {
                    Ok(true) => break,
                    Ok(false) => ready.clear_ready(),
                    // The keeper takes no more descriptors before it has read some: see `read`.
                    Err(Errno::TOOMANYREFS) => break,
                    Err(_) => return,
                }
            }
        }
    }

    fn flush(&self) -> Result<bool, Errno> {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.flush(self.socket.get_ref())
    }

    /// The next message. Cancel safe.
    pub(super) async fn read(&self, decoder: &mut Decoder) -> io::Result<Incoming> {
        loop {
            if let Some(incoming) = take(decoder)? {
                return Ok(incoming);
            }
            let mut ready = self.socket.readable().await?;
            match decoder.receive(self.socket.get_ref()) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {
                    // An answer means that descriptors in flight have landed, so there is room for others.
                    match self.flush() {
                        Ok(true) | Err(_) => {}
                        Ok(false) => self.more.notify_one(),
                    }
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn take(decoder: &mut Decoder) -> io::Result<Option<Incoming>> {
    let parsed = decoder.next(|bytes| {
        serde_json::from_slice::<Message>(bytes)
            .map_err(|error| (error.to_string(), serde_json::from_slice::<Head>(bytes)))
    });
    Ok(match parsed.map_err(io::Error::other)? {
        None => None,
        Some(Ok(message)) => {
            let expected = match &message {
                Message::Reply(ReplyFrame { fds, .. }) => *fds as usize,
                Message::Event(_) => 0,
            };
            // Lost descriptors show as too few of them where they are needed.
            let fds = decoder.take_fds(expected).unwrap_or_default();
            Some(Incoming::Message(message, fds))
        }
        Some(Err((_, Ok(Head { reply: Some(reply) })))) => {
            drop(decoder.take_fds(reply.fds as usize));
            Some(Incoming::UnreadableReply(reply.id))
        }
        Some(Err((error, _))) => Some(Incoming::Unreadable(error)),
    })
}

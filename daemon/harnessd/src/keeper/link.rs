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
use tokio::{io::Interest, net::UnixStream, sync::Notify};

/// The writing half is shared by all who make requests, the reading half belongs to the driver.
pub(super) struct Link {
    socket: UnixStream,
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
        Ok(Self {
            socket: UnixStream::connect(path).await?,
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
        match outbox.flush(&self.socket) {
            // Whoever filled the socket has woken the driver; the reader finds out about a broken one.
            Ok(true) | Err(_) => {}
            Ok(false) => self.more.notify_one(),
        }
        Ok(())
    }

    /// Writes what did not fit, whenever there is some; never returns.
    pub(super) async fn write(&self) -> std::convert::Infallible {
        loop {
            self.more.notified().await;
            // An error here is one of the connection's, on which the reader has more to say.
            while self.socket.writable().await.is_ok() {
                let flushed = self
                    .socket
                    .try_io(Interest::WRITABLE, || match self.flush() {
                        Ok(false) => Err(io::ErrorKind::WouldBlock.into()),
                        Ok(true) => Ok(()),
                        Err(error) => Err(error.into()),
                    });
                if !flushed.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                    break;
                }
            }
        }
    }

    fn flush(&self) -> Result<bool, Errno> {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.flush(&self.socket)
    }

    /// The next message. Cancel safe.
    pub(super) async fn read(&self, decoder: &mut Decoder) -> io::Result<Incoming> {
        loop {
            if let Some(incoming) = take(decoder)? {
                return Ok(incoming);
            }
            self.socket.readable().await?;
            let received = self
                .socket
                .try_io(Interest::READABLE, || Ok(decoder.receive(&self.socket)?));
            match received {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                // An answer means that descriptors in flight have landed, so there is room for others.
                Ok(_) => self.more.notify_one(),
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(error),
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

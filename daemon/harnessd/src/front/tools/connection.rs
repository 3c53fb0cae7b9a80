//! One command's connection: frames in and out.

use std::io;

use harness_tools::{FRAME_MAX, Frame, Kind, header, length};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

/// The longest standard input that is taken, in bytes.
pub(super) const INPUT_MAX: usize = 16 << 20;

/// How many bytes of answers are gathered before they are written.
const BATCH: usize = 64 << 10;

pub(super) struct Connection {
    stream: UnixStream,
    outgoing: Vec<u8>,
}

/// What came as standard input.
pub(super) enum Input {
    /// All of it.
    Whole(Vec<u8>),
    /// More than [`INPUT_MAX`].
    TooLong,
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            outgoing: Vec::new(),
        }
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    pub(super) async fn read(&mut self) -> io::Result<Frame> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).await?;
        let (kind, length) = length(head)?;
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).await?;
        Ok(Frame { kind, bytes })
    }

    /// Asks for standard input and reads it.
    pub(super) async fn input(&mut self) -> io::Result<Input> {
        self.put(Kind::WantStandardInput, &[]).await?;
        self.flush().await?;
        let mut whole = Vec::new();
        loop {
            let Frame { kind, bytes } = self.read().await?;
            if kind != Kind::StandardInput {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "another frame than standard input",
                ));
            }
            if bytes.is_empty() {
                return Ok(Input::Whole(whole));
            }
            whole.extend(bytes);
            if whole.len() > INPUT_MAX {
                return Ok(Input::TooLong);
            }
        }
    }

    pub(super) async fn put(&mut self, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        self.outgoing.extend(header(kind, bytes.len()));
        self.outgoing.extend_from_slice(bytes);
        if self.outgoing.len() >= BATCH {
            self.flush().await?;
        }
        Ok(())
    }

    /// A text of any length, in as many frames as it takes.
    pub(super) async fn put_long(&mut self, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(FRAME_MAX) {
            self.put(kind, piece).await?;
        }
        Ok(())
    }

    pub(super) async fn exit(&mut self, status: u8) -> io::Result<()> {
        self.put(Kind::Exit, &[status]).await?;
        self.flush().await
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.outgoing).await?;
        self.outgoing.clear();
        Ok(())
    }

    /// Resolves when the caller has gone: nothing more comes from it before it has an answer.
    pub(super) async fn gone(&self) {
        let mut byte = [0; 1];
        loop {
            if self.stream.readable().await.is_err() {
                return;
            }
            match self.stream.try_read(&mut byte) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}

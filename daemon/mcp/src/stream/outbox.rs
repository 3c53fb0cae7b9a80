//! Messages on their way out: in the order in which they were put, each whole.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Messages are written together up to this many bytes.
const TOGETHER: usize = 64 * 1024;

/// Beyond this many bytes that the client has not taken, nothing more is read from it.
const CONGESTED: usize = 4 * 1024 * 1024;

#[derive(Default)]
struct Queue {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Messages that were ever put.
    put: u64,
    closed: bool,
}

/// The writing end. What was taken from the queue stays here until it is out, so that a dropped
/// future never cuts a message in two.
struct Writer<W> {
    output: W,
    line: Vec<u8>,
    written: usize,
    /// Messages in `line` and before it.
    taken: u64,
    /// Messages that are out.
    sent: u64,
}

struct Shared<W> {
    queue: Mutex<Queue>,
    writer: tokio::sync::Mutex<Writer<W>>,
}

/// The outgoing side of a connection. Clones are the same outbox.
pub(crate) struct Outbox<W> {
    shared: Arc<Shared<W>>,
}

impl<W> Clone for Outbox<W> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    pub(crate) fn new(output: W) -> Self {
        let writer = Writer {
            output,
            line: Vec::new(),
            written: 0,
            taken: 0,
            sent: 0,
        };
        Self {
            shared: Arc::new(Shared {
                queue: Mutex::default(),
                writer: tokio::sync::Mutex::new(writer),
            }),
        }
    }

    /// Puts a message at the end of the queue and returns its number for [`Outbox::sent`].
    pub(crate) fn put(&self, mut line: Vec<u8>) -> u64 {
        line.push(b'\n');
        let mut queue = self.queue();
        queue.put += 1;
        queue.bytes += line.len();
        queue.lines.push_back(line);
        queue.put
    }

    /// Whether nothing can be sent any more.
    pub(crate) fn closed(&self) -> bool {
        self.queue().closed
    }

    /// Whether the client is far behind in reading.
    pub(crate) fn congested(&self) -> bool {
        self.queue().bytes > CONGESTED
    }

    /// Writes what can be written at once. Says whether everything up to `number` is out: then there
    /// is no need to wait for [`Outbox::sent`].
    pub(crate) fn try_send(&self, number: u64) -> bool {
        let Ok(mut writer) = self.shared.writer.try_lock() else {
            return false;
        };
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if !self.take(&mut writer) {
                let flushed = Pin::new(&mut writer.output).poll_flush(&mut context);
                return matches!(flushed, Poll::Ready(Ok(()))) && writer.sent >= number;
            }
            let Writer {
                output,
                line,
                written,
                ..
            } = &mut *writer;
            let rest = line.get(*written..).unwrap_or_default();
            match Pin::new(output).poll_write(&mut context, rest) {
                Poll::Ready(Ok(count)) if count > 0 => self.wrote(&mut writer, count),
                // An error is found again, and reported, by `sent`.
                Poll::Ready(_) | Poll::Pending => return false,
            }
        }
    }

    /// Resolves when the message `number` is out. Fails when the client is gone.
    pub(crate) async fn sent(&self, number: u64) -> io::Result<()> {
        let mut writer = self.shared.writer.lock().await;
        while writer.sent < number {
            if self.queue().closed {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if !self.take(&mut writer) {
                break;
            }
            let Writer {
                output,
                line,
                written,
                ..
            } = &mut *writer;
            let rest = line.get(*written..).unwrap_or_default();
            match output.write(rest).await {
                Ok(0) => return Err(self.close_queue(io::ErrorKind::WriteZero.into())),
                Ok(count) => self.wrote(&mut writer, count),
                Err(error) => return Err(self.close_queue(error)),
            }
        }
        writer.output.flush().await
    }

    /// Resolves when everything that was put so far is out.
    pub(crate) async fn all_sent(&self) -> io::Result<()> {
        let last = self.queue().put;
        self.sent(last).await
    }

    /// Sends the rest and ends the stream.
    pub(crate) async fn close(&self) -> io::Result<()> {
        self.all_sent().await?;
        self.shared.writer.lock().await.output.shutdown().await
    }

    /// Makes sure that there is something to write, if there is anything.
    fn take(&self, writer: &mut Writer<W>) -> bool {
        if writer.written < writer.line.len() {
            return true;
        }
        let mut queue = self.queue();
        let Some(first) = queue.lines.pop_front() else {
            return false;
        };
        writer.line = first;
        writer.written = 0;
        writer.taken += 1;
        while let Some(next) = queue.lines.front()
            && writer.line.len() + next.len() <= TOGETHER
        {
            writer.line.extend_from_slice(next);
            writer.taken += 1;
            queue.lines.pop_front();
        }
        true
    }

    fn wrote(&self, writer: &mut Writer<W>, count: usize) {
        writer.written += count;
        let mut queue = self.queue();
        queue.bytes = queue.bytes.saturating_sub(count);
        if writer.written >= writer.line.len() {
            writer.line = Vec::new();
            writer.written = 0;
            writer.sent = writer.taken;
        }
    }

    /// Nothing can be sent any more; what waits is dropped.
    fn close_queue(&self, error: io::Error) -> io::Error {
        let mut queue = self.queue();
        queue.closed = true;
        queue.lines.clear();
        queue.bytes = 0;
        error
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.shared
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn messages_leave_in_order_and_whole_though_futures_are_dropped() {
        let (near, mut far) = duplex(7);
        let outbox = Outbox::new(near);
        let reader = tokio::spawn(async move {
            let mut text = String::new();
            far.read_to_string(&mut text).await.unwrap();
            text
        });
        for round in 0..50 {
            let number = outbox.put(format!("message {round} of some length").into_bytes());
            if !outbox.try_send(number) {
                // Polled once and dropped, in the middle of a message as likely as not.
                futures_util::FutureExt::now_or_never(outbox.sent(number));
            }
            tokio::task::yield_now().await;
        }
        outbox.close().await.unwrap();
        drop(outbox);
        let text = reader.await.unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 50);
        for (round, line) in lines.into_iter().enumerate() {
            assert_eq!(line, format!("message {round} of some length"));
        }
    }

    #[tokio::test]
    async fn a_client_that_is_gone_fails_the_wait_and_empties_the_queue() {
        let (near, far) = duplex(4);
        drop(far);
        let outbox = Outbox::new(near);
        let number = outbox.put(vec![b'x'; CONGESTED + 1]);
        assert!(outbox.congested());
        assert!(!outbox.try_send(number));
        assert!(outbox.sent(number).await.is_err());
        assert!(!outbox.congested());
        assert!(outbox.sent(number).await.is_err());
    }
}

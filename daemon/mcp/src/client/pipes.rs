//! Newline-delimited JSON-RPC over the standard input and output of a program.

use std::{io, os::fd::OwnedFd, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::{
    net::unix::pipe,
    sync::Notify,
    task::{AbortHandle, JoinHandle},
};

use super::{
    error::{Cause, ClientError},
    exchange::Exchange,
    request::{Request, cancellation},
    wire::Wire,
};
use crate::{
    message::MESSAGE_MAX,
    stream::{Line, Lines, Outbox},
};

/// How long a program that has closed its standard input may go on to answer.
const LAST_WORDS: Duration = Duration::from_secs(1);

type Output = Outbox<pipe::Sender>;

/// The ends of a program's pipes.
pub(crate) struct Pipes {
    exchange: Arc<Exchange>,
    outbox: Output,
    flush: Arc<Notify>,
    tasks: [AbortHandle; 2],
}

impl Pipes {
    /// Takes over the writing end of its standard input and the reading end of its standard output.
    pub(crate) fn new(
        stdin: OwnedFd,
        stdout: OwnedFd,
        exchange: Arc<Exchange>,
    ) -> io::Result<Self> {
        let outbox = Outbox::new(pipe::Sender::from_owned_fd(stdin)?);
        let lines = Lines::new(pipe::Receiver::from_owned_fd(stdout)?, MESSAGE_MAX);
        let flush = Arc::new(Notify::new());
        let reader = tokio::spawn(read(
            lines,
            Arc::clone(&exchange),
            outbox.clone(),
            Arc::clone(&flush),
        ));
        let writer = tokio::spawn(write(
            outbox.clone(),
            Arc::clone(&exchange),
            Arc::clone(&flush),
        ));
        Ok(Self {
            exchange,
            outbox,
            flush,
            tasks: [reader, writer].map(|task: JoinHandle<()>| task.abort_handle()),
        })
    }

    fn put(&self, message: Vec<u8>) {
        put(&self.outbox, &self.flush, message);
    }
}

fn put(outbox: &Output, flush: &Notify, message: Vec<u8>) {
    let number = outbox.put(message);
    if !outbox.try_send(number) {
        flush.notify_one();
    }
}

/// A request whose answer has not come yet.
struct InFlight<'a> {
    pipes: &'a Pipes,
    id: i64,
    /// MCP does not let a client take `initialize` back.
    can_be_cancelled: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.pipes.exchange.forget(self.id) && self.can_be_cancelled {
            self.pipes.put(cancellation(self.id));
        }
    }
}

impl Wire for Pipes {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Value, ClientError>> {
        Box::pin(async move {
            let message = request.to_json();
            let Request {
                id, method, report, ..
            } = request;
            if self.outbox.closed() {
                return Err(ClientError::NotSent(Cause::Closed));
            }
            if self.outbox.congested() {
                return Err(ClientError::NotSent(Cause::Congested));
            }
            let answer = self.exchange.expect(id)?;
            let in_flight = InFlight {
                pipes: self,
                id,
                can_be_cancelled: method != "initialize",
            };
            if let Some(report) = report {
                self.exchange.watch_progress(id, report);
            }
            self.put(message);
            let outcome = answer.await;
            drop(in_flight);
            outcome.unwrap_or(Err(ClientError::Lost(Cause::Closed)))
        })
    }

    fn send(&self, message: Vec<u8>) -> BoxFuture<'_, Result<(), ClientError>> {
        self.put(message);
        Box::pin(std::future::ready(Ok(())))
    }

    fn agreed(&self, _version: &str, _stateless: bool) {}

    fn close(&self) {
        self.exchange.end(&Cause::Stopped);
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reads until the program closes its standard output.
async fn read(
    mut lines: Lines<pipe::Receiver>,
    exchange: Arc<Exchange>,
    outbox: Output,
    flush: Arc<Notify>,
) {
    let cause = loop {
        match lines.next().await {
            Ok(Line::Text) => match exchange.receive(lines.text()) {
                Ok(answers) => {
                    for answer in answers {
                        put(&outbox, &flush, answer);
                    }
                }
                Err(cause) => break cause,
            },
            Ok(Line::TooLong) if exchange.too_long(lines.beginning()) => {}
            Ok(Line::TooLong) => {
                break Cause::TooLong {
                    mebibytes: MESSAGE_MAX / (1024 * 1024),
                };
            }
            Ok(Line::End) => break Cause::Closed,
            Err(error) => break Cause::Io(Arc::new(error)),
        }
        lines.clear();
    };
    exchange.end(&cause);
}

/// Writes what did not fit into the pipe at once.
async fn write(outbox: Output, exchange: Arc<Exchange>, flush: Arc<Notify>) {
    loop {
        flush.notified().await;
        if let Err(error) = outbox.all_sent().await {
            // What it said before is still being read.
            tokio::time::sleep(LAST_WORDS).await;
            exchange.end(&Cause::Io(Arc::new(error)));
            return;
        }
    }
}

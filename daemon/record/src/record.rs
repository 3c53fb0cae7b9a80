//! The handle.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    calls,
    connection::{self, LOCK_TIMEOUT},
    error::{Error, Fault, Result},
    reader::{self, READERS},
    wakes,
    writer::{self, Durability, Operation, Request, Writer},
};

/// A handle to the record; cheap to clone. The threads end when the last clone is gone, after
/// all that was handed over is committed.
#[derive(Clone, Debug)]
pub struct Record {
    path: Arc<PathBuf>,
    writes: mpsc::Sender<writer::Message>,
    reads: mpsc::Sender<reader::Message>,
}

impl Record {
    /// Opens or makes the database and brings it up to date. Calls that were open when the daemon
    /// died become `outcome_unknown`, and wakes that were held for a waiter become due.
    ///
    /// Blocks, usually for some milliseconds; the caller makes sure that the directory exists and
    /// that no other daemon uses it.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, LOCK_TIMEOUT)
    }

    pub(crate) fn open_with(path: &Path, lock_timeout: Duration) -> Result<Self> {
        let mut connection = connection::open_writer(path, lock_timeout)?;
        reconcile(&mut connection).map_err(|error| Fault::from(error).at(path))?;
        let (writes, queue) = mpsc::channel();
        let thread = Writer::new(path.to_owned(), connection);
        spawn(path, "record-writer", move || thread.run(&queue))?;

        let (reads, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..READERS {
            let connection = connection::open_reader(path, lock_timeout)?;
            let queue = Arc::clone(&queue);
            spawn(path, "record-reader", move || {
                reader::run(connection, &queue);
            })?;
        }
        Ok(Self {
            path: Arc::new(path.to_owned()),
            writes,
            reads,
        })
    }

    /// Resolves when all that was handed over before is committed.
    pub async fn flush(&self) -> Result<()> {
        self.write(Durability::Full, |_| Ok(())).await
    }

    /// Resolves when what nobody waited for so far can be read, too. If the record cannot be
    /// written now, what it has can still be read.
    pub(crate) async fn catch_up(&self) {
        if let Err(error) = self.write(Durability::Normal, |_| Ok(())).await {
            tracing::debug!(%error, "the record is read without its last changes");
        }
    }

    /// Commits all that was handed over, closes the database for every clone, and resolves when
    /// its threads are done with the file: what comes later fails with [`Error::Closed`]. Without
    /// it nothing is lost either, but the log stays beside the database until the next start.
    pub async fn close(&self) {
        for _ in 0..READERS {
            let (closed, wait) = oneshot::channel();
            if self.reads.send(reader::Message::Close(closed)).is_ok() {
                // Nothing is ever sent: the sender goes when the connection has.
                drop(wait.await);
            }
        }
        let (closed, wait) = oneshot::channel();
        if self.writes.send(writer::Message::Close(closed)).is_ok() {
            drop(wait.await);
        }
    }

    /// Runs an operation on the writer and waits for its commit. Once handed over it is carried
    /// out even if the future is dropped.
    pub(crate) fn write<T, F>(
        &self,
        durability: Durability,
        run: F,
    ) -> impl Future<Output = Result<T>> + use<T, F>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> std::result::Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let sent = self.hand_over(Request {
            durability,
            run,
            outcome: None,
            reply: Some(reply),
        });
        async move {
            sent?;
            answer.await.map_err(|_| Error::Closed)?
        }
    }

    /// Hands an operation over without waiting; a failure is logged.
    pub(crate) fn note<F>(&self, run: F)
    where
        F: FnMut(&Connection) -> std::result::Result<(), Fault> + Send + 'static,
    {
        let sent = self.hand_over(Request {
            durability: Durability::Normal,
            run,
            outcome: None,
            reply: None,
        });
        if let Err(error) = sent {
            tracing::error!(%error, "a change that nobody waited for is lost");
        }
    }

    fn hand_over(&self, operation: impl Operation + 'static) -> Result<()> {
        self.writes
            .send(writer::Message::Operation(Box::new(operation)))
            .map_err(|_| Error::Closed)
    }

    /// Runs a query on a reader. It sees all that was committed before this call.
    pub(crate) async fn read<T, F>(&self, run: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let path = Arc::clone(&self.path);
        let query = move |connection: &Connection| {
            let outcome = run(connection).map_err(|error| Fault::from(error).at(&path));
            // A caller that went away wants no answer.
            drop(reply.send(outcome));
        };
        self.reads
            .send(reader::Message::Query(Box::new(query)))
            .map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

/// What the end of the last daemon left behind.
fn reconcile(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    calls::close_open(&transaction)?;
    wakes::release_held(&transaction)?;
    transaction.commit()
}

fn spawn(path: &Path, name: &str, body: impl FnOnce() + Send + 'static) -> Result<()> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map(drop)
        .map_err(|error| Error::Open {
            path: path.to_owned(),
            source: Box::new(error),
        })
}

//! The thread that writes, and its group commit.

use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{Error, Fault, Result};

/// The most operations in one transaction, so that the first of them does not wait for too many.
const BATCH: usize = 256;

/// How long a change that nobody waits for may wait for others, to be committed together with them.
const LINGER: Duration = Duration::from_millis(3);

/// Whether an operation has to survive a power cut once it has resolved. All survive `kill -9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// `synchronous = NORMAL`: in the log, not forced to the disk.
    Normal,
    /// `synchronous = FULL`: the log is synced with the commit.
    Full,
}

/// What the writing thread is told.
pub(crate) enum Message {
    Operation(Box<dyn Operation>),
    /// Commit what came before, close the database, drop the sender, and end.
    Close(oneshot::Sender<()>),
}

/// One operation on its way through the writer.
pub(crate) trait Operation: Send {
    fn durability(&self) -> Durability;
    /// Somebody waits for its commit.
    fn is_awaited(&self) -> bool;
    /// Does it, and keeps the outcome; may be called again after a rollback. True if it succeeded.
    fn run(&mut self, connection: &Connection) -> bool;
    /// Replaces the outcome.
    fn fail(&mut self, fault: Fault);
    /// Hands the outcome to whoever waits.
    fn reply(self: Box<Self>, path: &Path);
}

/// An operation made from a closure.
pub(crate) struct Request<T, F> {
    pub(crate) durability: Durability,
    pub(crate) run: F,
    pub(crate) outcome: Option<std::result::Result<T, Fault>>,
    /// Nobody waits for some; their failures are logged.
    pub(crate) reply: Option<oneshot::Sender<Result<T>>>,
}

impl<T, F> Operation for Request<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> std::result::Result<T, Fault> + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn is_awaited(&self) -> bool {
        self.reply.is_some()
    }

    fn run(&mut self, connection: &Connection) -> bool {
        let outcome = (self.run)(connection);
        let succeeded = outcome.is_ok();
        self.outcome = Some(outcome);
        succeeded
    }

    fn fail(&mut self, fault: Fault) {
        self.outcome = Some(Err(fault));
    }

    fn reply(self: Box<Self>, path: &Path) {
        let outcome = match self.outcome {
            Some(outcome) => outcome.map_err(|fault| fault.at(path)),
            None => Err(Error::Closed),
        };
        match (self.reply, outcome) {
            // A caller that went away wants no answer.
            (Some(reply), outcome) => drop(reply.send(outcome)),
            (None, Ok(_)) => {}
            (None, Err(error)) => log(&error),
        }
    }
}

fn log(error: &Error) {
    let source = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(%error, source, "a change that nobody waited for is not in the record");
}

/// The state of the writing thread.
pub(crate) struct Writer {
    path: PathBuf,
    connection: Connection,
    synchronous: Option<Durability>,
}

impl Writer {
    pub(crate) fn new(path: PathBuf, connection: Connection) -> Self {
        Self {
            path,
            connection,
            synchronous: None,
        }
    }

    /// Works until it is told to close, or every sender is gone and the queue is empty.
    pub(crate) fn run(mut self, queue: &mpsc::Receiver<Message>) {
        let mut batch = Vec::new();
        let mut close = None;
        while close.is_none()
            && let Ok(first) = queue.recv()
        {
            close = gather(queue, first, &mut batch);
            self.commit(&mut batch);
            for operation in batch.drain(..) {
                operation.reply(&self.path);
            }
        }
        // The last connection moves the log into the database and removes it; only then is it closed.
        drop(self.connection);
        drop(close);
    }

    fn commit(&mut self, batch: &mut [Box<dyn Operation>]) {
        if batch.is_empty() {
            return;
        }
        if let [only] = batch {
            self.alone(only.as_mut());
        } else if !self.together(batch) {
            // The transaction was lost with all that was in it. One by one, the operations that
            // still fit on the disk succeed, and each of the others gets its own error.
            for operation in batch {
                self.alone(operation.as_mut());
            }
        }
    }

    fn alone(&mut self, operation: &mut dyn Operation) {
        if let Err(error) = self.begin(operation.durability()) {
            return operation.fail(error.into());
        }
        if !operation.run(&self.connection) {
            self.roll_back();
        } else if let Err(error) = self.execute("COMMIT") {
            operation.fail(error.into());
            self.roll_back();
        }
    }

    /// False if nothing of the batch is in the database and each operation is to be tried alone.
    fn together(&mut self, batch: &mut [Box<dyn Operation>]) -> bool {
        let full = batch
            .iter()
            .any(|operation| operation.durability() == Durability::Full);
        let durability = if full {
            Durability::Full
        } else {
            Durability::Normal
        };
        if let Err(error) = self.begin(durability) {
            // Each of them would wait for the same lock again.
            for operation in batch {
                operation.fail(copy(&error).into());
            }
            return true;
        }
        for operation in batch {
            let done = self.execute("SAVEPOINT operation").and_then(|()| {
                if !operation.run(&self.connection) && !self.connection.is_autocommit() {
                    self.execute("ROLLBACK TO operation")?;
                }
                self.execute("RELEASE operation")
            });
            if done.is_err() {
                self.roll_back();
                return false;
            }
        }
        let committed = self.execute("COMMIT").is_ok();
        if !committed {
            self.roll_back();
        }
        committed
    }

    fn begin(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if self.synchronous != Some(durability) {
            // Takes effect when it is prepared, so it cannot be a cached statement.
            self.connection.execute_batch(match durability {
                Durability::Normal => "PRAGMA synchronous = NORMAL",
                Durability::Full => "PRAGMA synchronous = FULL",
            })?;
            self.synchronous = Some(durability);
        }
        self.execute("BEGIN IMMEDIATE")
    }

    /// SQLite itself rolls back after some errors, such as a full disk.
    fn roll_back(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(%error, "the record could not roll back");
        }
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(()).map(drop)
    }
}

/// Collects what is to be committed together; gives back who wants the record closed after it.
///
/// What came while the last commit was on its way is in the queue by now. A batch that nobody waits
/// for stays open for a moment: it costs a commit less when it goes with the next one.
fn gather(
    queue: &mpsc::Receiver<Message>,
    first: Message,
    batch: &mut Vec<Box<dyn Operation>>,
) -> Option<oneshot::Sender<()>> {
    let mut next = Some(first);
    let mut awaited = false;
    let mut deadline = None;
    while let Some(message) = next {
        match message {
            Message::Operation(operation) => {
                awaited |= operation.is_awaited();
                batch.push(operation);
            }
            Message::Close(closed) => return Some(closed),
        }
        next = if batch.len() >= BATCH {
            None
        } else if awaited {
            queue.try_recv().ok()
        } else {
            let now = Instant::now();
            let deadline = *deadline.get_or_insert(now + LINGER);
            queue
                .recv_timeout(deadline.saturating_duration_since(now))
                .ok()
        };
    }
    None
}

/// An error for one more operation that failed with it.
fn copy(error: &rusqlite::Error) -> rusqlite::Error {
    if let rusqlite::Error::SqliteFailure(failure, message) = error {
        rusqlite::Error::SqliteFailure(*failure, message.clone())
    } else {
        rusqlite::Error::ToSqlConversionFailure(error.to_string().into())
    }
}

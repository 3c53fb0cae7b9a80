//! The threads that read.

use std::sync::{Mutex, PoisonError, mpsc};

use rusqlite::Connection;

/// A query that answers its caller by itself.
pub(crate) type Query = Box<dyn FnOnce(&Connection) + Send>;

/// How many queries run at once.
pub(crate) const READERS: usize = 2;

/// Works until every sender is gone and the queue is empty.
pub(crate) fn run(connection: &Connection, queue: &Mutex<mpsc::Receiver<Query>>) {
    loop {
        // The guard is gone before the query runs: another reader takes the next one meanwhile.
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(query) => query(connection),
            Err(mpsc::RecvError) => return,
        }
    }
}

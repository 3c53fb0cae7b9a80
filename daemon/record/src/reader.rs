//! The threads that read.

use std::sync::{Mutex, PoisonError, mpsc};

use rusqlite::Connection;
use tokio::sync::oneshot;

/// A query that answers its caller by itself.
pub(crate) type Query = Box<dyn FnOnce(&Connection) + Send>;

/// What a reading thread is told.
pub(crate) enum Message {
    Query(Query),
    /// Close the database, drop the sender, and end.
    Close(oneshot::Sender<()>),
}

/// How many queries run at once.
pub(crate) const READERS: usize = 2;

/// Works until it is told to close, or every sender is gone and the queue is empty.
pub(crate) fn run(connection: Connection, queue: &Mutex<mpsc::Receiver<Message>>) {
    loop {
        // The guard is gone before the query runs: another reader takes the next one meanwhile.
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(Message::Query(query)) => query(&connection),
            Ok(Message::Close(closed)) => {
                drop(connection);
                drop(closed);
                return;
            }
            Err(mpsc::RecvError) => return,
        }
    }
}

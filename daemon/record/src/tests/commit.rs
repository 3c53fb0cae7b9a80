//! The writer's group commit, operation by operation.

use std::{path::Path, sync::mpsc, thread};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    connection::{self, LOCK_TIMEOUT},
    error::{Error, Fault, Result},
    writer::{Durability, Message, Request, Writer},
};

fn insert(connection: &Connection, name: &str) -> std::result::Result<(), Fault> {
    connection
        .execute("INSERT INTO counters VALUES (?1, 0)", [name])
        .map(drop)
        .map_err(Fault::from)
}

fn count(path: &Path) -> i64 {
    connection::open_reader(path, LOCK_TIMEOUT)
        .unwrap()
        .query_row(
            "SELECT count(*) FROM counters WHERE name LIKE 'test%'",
            (),
            |row| row.get(0),
        )
        .unwrap()
}

/// Queues operations, lets a writer do all of them at once, and gives back what they answered.
fn at_once<F>(path: &Path, setup: impl FnOnce(&Connection), operations: Vec<F>) -> Vec<Result<()>>
where
    F: FnMut(&Connection) -> std::result::Result<(), Fault> + Send + 'static,
{
    let connection = connection::open_writer(path, LOCK_TIMEOUT).unwrap();
    setup(&connection);
    let (sender, queue) = mpsc::channel();
    let mut answers = Vec::new();
    for run in operations {
        let (reply, answer) = oneshot::channel();
        answers.push(answer);
        let request = Request {
            durability: Durability::Full,
            run,
            outcome: None,
            reply: Some(reply),
        };
        sender.send(Message::Operation(Box::new(request))).unwrap();
    }
    drop(sender);
    let writer = Writer::new(path.to_owned(), connection);
    thread::spawn(move || writer.run(&queue)).join().unwrap();
    answers
        .into_iter()
        .map(|mut answer| answer.try_recv().unwrap())
        .collect()
}

#[test]
fn what_waits_together_is_committed_together() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let operations = (0..100)
        .map(|number| {
            let path = path.clone();
            move |connection: &Connection| {
                insert(connection, &format!("test {number}"))?;
                assert_eq!(count(&path), 0, "an earlier one is committed already");
                Ok(())
            }
        })
        .collect();
    let answers = at_once(&path, |_| {}, operations);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(count(&path), 100);
}

#[test]
fn one_that_fails_takes_nothing_with_it_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let operations = (0..9)
        .map(|number| {
            move |connection: &Connection| {
                insert(connection, &format!("test {number}"))?;
                if number % 3 == 1 {
                    return Err(Fault::Unknown {
                        what: "unit",
                        id: number.to_string(),
                    });
                }
                Ok(())
            }
        })
        .collect();
    let answers = at_once(&path, |_| {}, operations);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer.is_err(), number % 3 == 1, "{number}: {answer:?}");
    }
    assert_eq!(count(&path), 6);
}

#[test]
fn when_the_disk_fills_up_those_that_fit_are_still_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let operations = (0..8)
        .map(|number| {
            let length = if number == 4 { 10_000_000 } else { 10 };
            move |connection: &Connection| {
                insert(connection, &format!("test {number}{}", "x".repeat(length)))
            }
        })
        .collect();
    let answers = at_once(
        &path,
        |connection| {
            connection
                .pragma_update(None, "max_page_count", 200)
                .unwrap();
        },
        operations,
    );
    for (number, answer) in answers.iter().enumerate() {
        match answer {
            Ok(()) => assert_ne!(number, 4),
            Err(Error::Full { .. }) => assert_eq!(number, 4),
            Err(error) => panic!("{number}: {error:?}"),
        }
    }
    assert_eq!(count(&path), 7);
}

#[test]
fn a_transaction_that_sqlite_took_back_is_done_again_one_by_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let operations = (0..5)
        .map(|number| {
            move |connection: &Connection| {
                insert(connection, &format!("test {number}"))?;
                if number == 3 {
                    // As SQLite does by itself after some errors of the disk.
                    connection.execute_batch("ROLLBACK")?;
                    return Err(Fault::Unknown {
                        what: "unit",
                        id: "lost".to_owned(),
                    });
                }
                Ok(())
            }
        })
        .collect();
    let answers = at_once(&path, |_| {}, operations);
    let failed: Vec<bool> = answers.iter().map(Result::is_err).collect();
    assert_eq!(failed, [false, false, false, true, false]);
    assert_eq!(count(&path), 4);
}

//! From an older schema to this one, and no further.

use harness_model::CallQuery;
use rusqlite::Connection;

use super::support::id;
use crate::{Error, Record, schema};

/// A database of schema 1 as the program that had it left it.
const VERSION_1: &str = include_str!("../../tests/fixtures/version-1.sql");

#[tokio::test]
async fn a_database_of_schema_1_is_brought_up_to_date_with_all_that_is_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(VERSION_1)
        .unwrap();

    let record = Record::open(&path).unwrap();
    let task = record.unit(&id("mk3f9a2b")).await.unwrap().unwrap();
    assert_eq!(task.unit.command, "make test");
    assert_eq!(task.state.restarts, 2);
    assert_eq!(
        record.invocations(&id("mk3f9a2b"), 10).await.unwrap().len(),
        1
    );
    assert_eq!(record.task_counts().await.unwrap().failed, 1);
    let wakes = record.wakes(10).await.unwrap();
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0].body, "2 failed");
    assert_eq!(
        record
            .calls(CallQuery::default())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    record.close().await;

    let version: i64 = Connection::open(&path)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(usize::try_from(version), Ok(schema::MIGRATIONS.len()));
}

#[test]
fn a_database_of_a_newer_version_is_refused_with_both_versions_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let newer = Connection::open(&path).unwrap();
    newer.execute_batch(VERSION_1).unwrap();
    newer.execute_batch("PRAGMA user_version = 999").unwrap();
    drop(newer);
    let before = std::fs::read(&path).unwrap();
    let error = Record::open(&path).unwrap_err();
    assert!(
        matches!(error, Error::Newer { found: 999, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("999"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_migration_that_fails_leaves_the_version_before_it_whole() {
    let mut connection = Connection::open_in_memory().unwrap();
    let steps = [
        "CREATE TABLE a (x); INSERT INTO a VALUES (1)",
        "CREATE TABLE b (x); INSERT INTO b SELECT x FROM nowhere",
    ];
    schema::apply(&mut connection, &steps).unwrap_err();
    let count = |sql| -> i64 { connection.query_row(sql, (), |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT x FROM a"), 1);
    assert_eq!(
        count("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"),
        0
    );
    assert_eq!(count("PRAGMA user_version"), 1);
}

#[test]
fn each_migration_is_applied_once() {
    let mut connection = Connection::open_in_memory().unwrap();
    let first = ["CREATE TABLE a (x)"];
    schema::apply(&mut connection, &first).unwrap();
    let both = [first[0], "ALTER TABLE a ADD COLUMN y"];
    schema::apply(&mut connection, &both).unwrap();
    schema::apply(&mut connection, &both).unwrap();
    connection
        .execute("INSERT INTO a (x, y) VALUES (1, 2)", ())
        .unwrap();
}

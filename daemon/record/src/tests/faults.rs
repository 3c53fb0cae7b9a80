//! What happens when the database cannot be had.

use std::{fs, time::Duration};

use harness_model::CallQuery;
use rusqlite::Connection;

use super::support::{call, starting, unit};
use crate::{Error, Record};

#[tokio::test]
async fn a_foreign_lock_is_a_typed_error_and_later_writes_succeed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let record = Record::open_with(&path, Duration::from_millis(20)).unwrap();
    let foreign = Connection::open(&path).unwrap();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();

    let (first, second) = tokio::join!(
        record.unit_created(unit("a"), starting("a")),
        record.call_begin(call("run"))
    );
    for outcome in [first, second] {
        assert!(matches!(outcome, Err(Error::Locked { .. })), "{outcome:?}");
    }
    // Readers do not care.
    assert_eq!(record.calls(CallQuery::default()).await.unwrap().items, []);

    foreign.execute_batch("ROLLBACK").unwrap();
    record.unit_created(unit("a"), starting("a")).await.unwrap();
}

#[tokio::test]
async fn a_foreign_reader_works_beside_the_record_and_holds_nobody_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let record = Record::open_with(&path, Duration::from_millis(20)).unwrap();
    record.unit_created(unit("a"), starting("a")).await.unwrap();
    let foreign = Connection::open(&path).unwrap();
    foreign.execute_batch("BEGIN").unwrap();
    let count = || -> i64 {
        foreign
            .query_row("SELECT count(*) FROM units", (), |row| row.get(0))
            .unwrap()
    };
    assert_eq!(count(), 1);
    record.unit_created(unit("b"), starting("b")).await.unwrap();
    assert_eq!(count(), 1, "a reader's view stands still");
    foreign.execute_batch("COMMIT").unwrap();
    assert_eq!(count(), 2);
}

#[test]
fn what_is_no_database_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let text = "not a database\n".repeat(1000);
    fs::write(&path, &text).unwrap();
    let error = Record::open(&path).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains(".recover"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    for (name, setup) in [
        ("its-id", "PRAGMA application_id = 7; CREATE TABLE t (a)"),
        ("no-id", "CREATE TABLE t (a)"),
    ] {
        let path = directory.path().join(name);
        let foreign = Connection::open(&path).unwrap();
        foreign.execute_batch(setup).unwrap();
        drop(foreign);
        let before = fs::read(&path).unwrap();
        let error = Record::open(&path).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/state.db");
    let error = Record::open(&path).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error:?}");
    assert!(error.to_string().contains("missing/state.db"), "{error}");
}

#[tokio::test]
async fn a_damaged_page_is_a_typed_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let record = Record::open(&path).unwrap();
    for number in 0..200 {
        let name = format!("u{number}");
        record
            .unit_created(unit(&name), starting(&name))
            .await
            .unwrap();
    }
    record.close().await;
    let mut bytes = fs::read(&path).unwrap();
    // All but the first page, which holds the schema.
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let error = match Record::open(&path) {
        Ok(record) => record.unfinished_units().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_does_not_hide_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let record = Record::open(&path).unwrap();
    let mut calls = Vec::new();
    for tool in ["a", "b", "c"] {
        calls.push(call(tool));
        record
            .call_begin(calls[calls.len() - 1].clone())
            .await
            .unwrap();
    }
    let foreign = Connection::open(&path).unwrap();
    // A lone surrogate is no text, whoever wrote it.
    foreign
        .execute(
            r#"UPDATE calls SET input = '{"cmd":"\ud800"}' WHERE tool = 'c'"#,
            (),
        )
        .unwrap();
    let query = |limit, before| CallQuery {
        before,
        limit: Some(limit),
        ..CallQuery::default()
    };
    let page = record.calls(query(10, None)).await.unwrap();
    let tools: Vec<_> = page.items.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["b", "a"]);
    // A page of nothing but broken rows still leads on.
    let page = record.calls(query(1, None)).await.unwrap();
    assert_eq!(page.items, []);
    let page = record.calls(query(1, page.next)).await.unwrap();
    assert_eq!(page.items, [calls[1].clone()]);
}

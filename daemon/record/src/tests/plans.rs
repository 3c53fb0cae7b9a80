//! No frequent statement walks a table: what each costs does not grow with the history.

use harness_model::{ActiveState, CallId, CallQuery, CallState, SessionId, TaskState, UnitKind};
use rusqlite::{Connection, StatementStatus};

use crate::{approvals, calls, connection, invocations, prune, units, wakes};

/// The steps of a statement's plan.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    for parameter in 1..=statement.parameter_count() {
        statement.raw_bind_parameter(parameter, 1).unwrap();
    }
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get(3).unwrap());
    }
    steps
}

fn database() -> (tempfile::TempDir, Connection) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let connection = connection::open_writer(&path, connection::LOCK_TIMEOUT).unwrap();
    (directory, connection)
}

/// Indexes that hold only what is live, so that walking one is walking what is asked for.
const PARTIAL: [&str; 5] = [
    "units_live",
    "wakes_due",
    "wakes_held",
    "approvals_pending",
    "approvals_expiry",
];

fn assert_no_walk(connection: &Connection, sql: &str) {
    let steps = plan(connection, sql);
    assert!(!steps.is_empty(), "{sql}");
    for step in &steps {
        let small = step.starts_with("SEARCH")
            || step == "SCAN counters"
            || step == "SCAN standing"
            || step.contains("SUBQUERY")
            || step.starts_with("SCAN") && PARTIAL.iter().any(|index| step.ends_with(index));
        assert!(small, "{sql}\n{steps:#?}");
    }
}

/// The statements of the ways that a call and a unit go, but for those that insert.
fn frequent() -> Vec<String> {
    [
        units::one_sql(),
        units::unfinished_sql(),
        units::COUNTS.to_owned(),
        units::write::FIND.to_owned(),
        units::write::UPDATE.to_owned(),
        invocations::LIST.to_owned(),
        invocations::NEWEST.to_owned(),
        invocations::TRIM.to_owned(),
        invocations::UPDATE.to_owned(),
        wakes::due_sql(),
        wakes::one_sql(),
        wakes::HELD.to_owned(),
        wakes::RELEASE.to_owned(),
        wakes::DELIVERED.to_owned(),
        wakes::ACKNOWLEDGE.to_owned(),
        wakes::ACKNOWLEDGE_OF.to_owned(),
        wakes::COUNT.to_owned(),
        wakes::FORGET.to_owned(),
        wakes::RING.to_owned(),
        calls::REWRITE.to_owned(),
        calls::FINISH.to_owned(),
        calls::CLOSE.to_owned(),
        approvals::OPEN.to_owned(),
        approvals::PENDING.to_owned(),
        approvals::EXPIRED.to_owned(),
        approvals::ONE.to_owned(),
        approvals::LIST.to_owned(),
        approvals::ANSWER.to_owned(),
        approvals::USE.to_owned(),
        approvals::EXPIRE.to_owned(),
        approvals::LEFT_OVER.to_owned(),
        approvals::STANDING.to_owned(),
        approvals::REVOKE.to_owned(),
        prune::prunable_sql(),
        prune::REMOVE.to_owned(),
        prune::PRUNE_CALLS.to_owned(),
    ]
    .into()
}

#[test]
fn no_frequent_statement_is_compiled_anew_for_what_is_bound() {
    let (_directory, connection) = database();
    for sql in frequent() {
        let mut statement = connection.prepare(&sql).unwrap();
        for value in 1..4 {
            for parameter in 1..=statement.parameter_count() {
                statement.raw_bind_parameter(parameter, value).unwrap();
            }
            let mut rows = statement.raw_query();
            while rows.next().unwrap().is_some() {}
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{sql}");
    }
}

#[test]
fn every_frequent_statement_uses_an_index_and_sorts_nothing() {
    let (_directory, connection) = database();
    for sql in frequent() {
        assert_no_walk(&connection, &sql);
    }
}

#[test]
fn every_page_of_units_is_found_by_one_index_with_nothing_to_leave_out() {
    let (_directory, connection) = database();
    let all = units::Filter::default();
    let kind = units::Filter {
        kind: Some(UnitKind::Task),
        ..all
    };
    let active_state = Some(ActiveState::Failed);
    let task_state = Some(TaskState::Done);
    for (filter, columns) in [
        (all, "rowid<?"),
        (kind, "kind=? AND rowid<?"),
        (
            units::Filter {
                active_state,
                ..all
            },
            "active_state=? AND rowid<?",
        ),
        (
            units::Filter {
                active_state,
                ..kind
            },
            "kind=? AND active_state=? AND rowid<?",
        ),
        (
            units::Filter { task_state, ..all },
            "task_state=? AND rowid<?",
        ),
    ] {
        let sql = units::page_sql(filter);
        assert_no_walk(&connection, &sql);
        let steps = plan(&connection, &sql);
        assert!(
            steps[0].ends_with(&format!("({columns})")),
            "{sql}\n{steps:#?}"
        );
    }
}

#[test]
fn every_page_of_calls_is_found_by_an_index() {
    let (_directory, connection) = database();
    for filters in 0..16 {
        let query = CallQuery {
            parent: (filters & 1 != 0).then(CallId::generate),
            session: (filters & 2 != 0).then(SessionId::generate),
            tool: (filters & 4 != 0).then(|| "run".to_owned()),
            state: (filters & 8 != 0).then_some(CallState::Failed),
            ..CallQuery::default()
        };
        assert_no_walk(&connection, &calls::page_sql(&query));
    }
}

#[test]
fn the_check_itself_notices_a_walk_and_a_sort() {
    let (_directory, connection) = database();
    for sql in [
        "SELECT id FROM units WHERE created_at > 5",
        "SELECT id FROM calls WHERE session = 'a' ORDER BY started_at",
        "SELECT id FROM approvals WHERE state = 'used'",
        "SELECT id FROM approvals WHERE digest = 'a' ORDER BY id",
    ] {
        let walk = std::panic::catch_unwind(|| {
            let (_directory, connection) = database();
            assert_no_walk(&connection, sql);
        });
        assert!(walk.is_err(), "{sql}: {:?}", plan(&connection, sql));
    }
}

//! Calls.

use harness_model::{CallQuery, CallRecord, CallState, ErrorCode};
use harness_record::{Error, Record};
use serde_json::json;

use crate::support::{at, call};

fn open() -> (tempfile::TempDir, Record) {
    let directory = tempfile::tempdir().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    (directory, record)
}

fn all() -> CallQuery {
    CallQuery::default()
}

#[tokio::test]
async fn a_call_is_there_before_it_runs_and_closed_after_it() {
    let (_directory, record) = open();
    let mut call = call("run");
    record.call_begin(call.clone()).await.unwrap();
    assert_eq!(record.calls(all()).await.unwrap().items, [call.clone()]);

    let preview = "ü".repeat(5000);
    record.call_finish(
        call.id.clone(),
        CallState::Refused,
        Some(ErrorCode::Denied),
        Some(preview.clone()),
        u64::MAX,
    );
    // An end that comes too late changes nothing.
    record.call_finish(call.id.clone(), CallState::Ok, None, None, 1);
    // Nobody waited for the end, and it is shown all the same.
    call.state = CallState::Refused;
    call.code = Some(ErrorCode::Denied);
    call.preview = Some(preview.chars().take(1000).collect());
    call.duration_usec = Some(i64::MAX.unsigned_abs());
    assert_eq!(record.calls(all()).await.unwrap().items, [call]);
}

#[tokio::test]
async fn a_rewritten_call_has_what_was_asked_and_what_is_carried_out() {
    let (_directory, record) = open();
    let call = call("run");
    record.call_begin(call.clone()).await.unwrap();
    let id = call.id.clone();
    let rewritten = json!({"cmd": "x".repeat(1 << 20)});
    record
        .call_rewritten(id.clone(), rewritten.clone())
        .await
        .unwrap();
    record.call_finish(id.clone(), CallState::Ok, None, None, 1);
    let stored = record.calls(all()).await.unwrap().items.remove(0);
    assert_eq!(stored.asked.as_ref(), Some(&call.input));
    assert!(stored.input.to_string().len() <= 16 << 10);
    // Too late: it has run.
    let error = record.call_rewritten(id, json!({})).await.unwrap_err();
    assert!(matches!(error, Error::Unknown { .. }), "{error:?}");
    assert_eq!(record.calls(all()).await.unwrap().items[0], stored);
}

#[tokio::test]
async fn a_call_that_was_open_when_the_daemon_died_has_an_unknown_outcome() {
    let (directory, record) = open();
    let (open, closed) = (call("a"), call("b"));
    record.call_begin(open.clone()).await.unwrap();
    record.call_begin(closed.clone()).await.unwrap();
    record.call_finish(closed.id.clone(), CallState::Ok, None, None, 5);
    record.close().await;

    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let calls = record.calls(all()).await.unwrap().items;
    assert_eq!(calls[0].state, CallState::Ok);
    assert_eq!(calls[1].id, open.id);
    assert_eq!(calls[1].state, CallState::OutcomeUnknown);
    assert_eq!(calls[1].code, Some(ErrorCode::OutcomeUnknown));
}

#[tokio::test]
async fn a_huge_input_is_cut_and_still_json() {
    let (_directory, record) = open();
    let mut call = call("run");
    call.input = json!({"cmd": "nul \0 ".repeat(1 << 20), "cwd": "/srv"});
    record.call_begin(call).await.unwrap();
    let stored = &record.calls(all()).await.unwrap().items[0];
    assert_eq!(stored.input["cwd"], "/srv");
    assert!(
        stored.input["cmd"]
            .as_str()
            .unwrap()
            .ends_with("bytes cut]")
    );
    assert!(stored.input.to_string().len() <= 16 << 10);
}

#[tokio::test]
async fn an_id_is_used_once() {
    let (_directory, record) = open();
    let call = call("run");
    record.call_begin(call.clone()).await.unwrap();
    let error = record.call_begin(call).await.unwrap_err();
    assert!(
        matches!(error, Error::Exists { what: "call", .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn calls_are_listed_by_any_mix_of_filters() {
    let (_directory, record) = open();
    let first = call("run");
    let mut nested = call("shell");
    nested.parent = Some(first.id.clone());
    nested.session = first.session.clone();
    let other = call("run");
    for call in [&first, &nested, &other] {
        record.call_begin(call.clone()).await.unwrap();
    }
    record.call_finish(other.id.clone(), CallState::Failed, None, None, 1);
    record.flush().await.unwrap();
    let query = |parent: bool, session: bool, tool: &str, open: bool| CallQuery {
        parent: parent.then(|| first.id.clone()),
        session: session.then(|| first.session.clone()),
        tool: (!tool.is_empty()).then(|| tool.to_owned()),
        state: open.then_some(CallState::Open),
        ..all()
    };
    for (query, expected) in [
        (query(false, false, "", false), "other nested first"),
        (query(true, false, "", false), "nested"),
        (query(false, true, "", false), "nested first"),
        (query(false, false, "run", false), "other first"),
        (query(false, false, "", true), "nested first"),
        (query(false, false, "run", true), "first"),
        (query(false, true, "run", false), "first"),
        (query(true, true, "shell", true), "nested"),
        (query(true, false, "run", false), ""),
    ] {
        let page = record.calls(query.clone()).await.unwrap();
        let name = |call: &CallRecord| match &call.id {
            id if *id == first.id => "first",
            id if *id == nested.id => "nested",
            _ => "other",
        };
        let names: Vec<_> = page.items.iter().map(name).collect();
        assert_eq!(names.join(" "), expected, "{query:?}");
    }
}

#[tokio::test]
async fn pages_follow_each_other() {
    let (_directory, record) = open();
    for number in 0..5 {
        record
            .call_begin(call(&format!("t{number}")))
            .await
            .unwrap();
    }
    let query = |before| CallQuery {
        before,
        limit: Some(2),
        ..CallQuery::default()
    };
    let mut seen = Vec::new();
    let mut page = record.calls(query(None)).await.unwrap();
    loop {
        seen.extend(page.items.into_iter().map(|call| call.tool));
        match page.next {
            Some(next) => page = record.calls(query(Some(next))).await.unwrap(),
            None => break,
        }
    }
    assert_eq!(seen, ["t4", "t3", "t2", "t1", "t0"]);
}

#[tokio::test]
async fn old_calls_are_removed_in_pieces_and_open_ones_stay() {
    let (_directory, record) = open();
    for number in 0..6 {
        let mut call = call(&format!("t{number}"));
        call.started_at = at(number);
        record.call_begin(call.clone()).await.unwrap();
        if number != 0 {
            record.call_finish(call.id, CallState::Ok, None, None, 1);
        }
    }
    assert_eq!(record.prune_calls(1, at(100), 2).await.unwrap(), 2);
    assert_eq!(record.prune_calls(1, at(4), 10).await.unwrap(), 1);
    let left = record.calls(all()).await.unwrap().items;
    let tools: Vec<_> = left.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["t5", "t4", "t0"]);
}

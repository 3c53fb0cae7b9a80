//! Many callers at once.

use std::collections::BTreeSet;

use harness_model::{CallQuery, CallState};
use harness_record::{Error, Record};
use tokio::task::JoinSet;

use crate::support::{call, ended, id, running, starting, unit};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everyone_reads_what_they_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let mut callers = JoinSet::new();
    for caller in 0..64 {
        let record = record.clone();
        callers.spawn(async move {
            for round in 0..10 {
                let name = format!("u{caller}-{round}");
                let start = starting(&name);
                let call = call("run");
                record.call_begin(call.clone()).await.unwrap();
                record
                    .unit_created(unit(&name), start.clone())
                    .await
                    .unwrap();
                assert!(record.unit(&id(&name)).await.unwrap().is_some());
                record.unit_noted(running(&start));
                record
                    .unit_changed(ended(&start, 0))
                    .await
                    .unwrap()
                    .unwrap();
                let stored = record.unit(&id(&name)).await.unwrap().unwrap();
                assert!(stored.state.is_final());
                record.call_finish(call.id, CallState::Ok, None, None, 1);
            }
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller.unwrap();
    }
    assert_eq!(record.task_counts().await.unwrap().inactive, 640);
    assert_eq!(record.wakes_due().await.unwrap(), 640);
    record.flush().await.unwrap();
    let open = CallQuery {
        state: Some(CallState::Open),
        limit: Some(1),
        ..CallQuery::default()
    };
    assert_eq!(record.calls(open).await.unwrap().items, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_that_take_the_same_id_one_wins_and_the_rest_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let mut callers = JoinSet::new();
    for caller in 0..60 {
        let record = record.clone();
        let name = if caller % 2 == 0 {
            "same".to_owned()
        } else {
            format!("own{caller}")
        };
        callers.spawn(async move {
            let outcome = record.unit_created(unit(&name), starting(&name)).await;
            (name, outcome)
        });
    }
    let mut made = BTreeSet::new();
    while let Some(outcome) = callers.join_next().await {
        let (name, outcome) = outcome.unwrap();
        match outcome {
            Ok(()) => assert!(made.insert(name)),
            Err(Error::Exists { .. }) => assert_eq!(name, "same"),
            Err(error) => panic!("{name}: {error:?}"),
        }
    }
    assert_eq!(made.len(), 31);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_wake_is_acknowledged_by_one_of_many() {
    let directory = tempfile::tempdir().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let start = starting("a");
    record.unit_created(unit("a"), start.clone()).await.unwrap();
    let wake = record
        .unit_changed(ended(&start, 0))
        .await
        .unwrap()
        .unwrap();
    let mut callers = JoinSet::new();
    for _ in 0..20 {
        let record = record.clone();
        callers.spawn(async move { record.wakes_ack(&[wake.id]).await.unwrap().len() });
    }
    assert_eq!(callers.join_all().await.iter().sum::<usize>(), 1);
}

#[tokio::test]
async fn a_write_whose_caller_went_away_is_carried_out() {
    let directory = tempfile::tempdir().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    // Polled once, then dropped.
    tokio::select! {
        biased;
        outcome = record.unit_created(unit("a"), starting("a")) => outcome.unwrap(),
        () = std::future::ready(()) => {}
    }
    record.flush().await.unwrap();
    assert!(record.unit(&id("a")).await.unwrap().is_some());
}

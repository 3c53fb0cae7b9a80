//! Wakes: written with the end, held for a waiter, delivered until they are acknowledged.

use harness_model::{ExitStatus, Signal, TaskState, UnitKind, UnitResult, WakeId};
use harness_record::Record;

use crate::support::{at, ended, exit, id, running, starting, unit};

fn open() -> (tempfile::TempDir, Record) {
    let directory = tempfile::tempdir().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    (directory, record)
}

#[tokio::test]
async fn the_end_of_a_task_makes_one_wake() {
    let (_directory, record) = open();
    let start = starting("a");
    record.unit_created(unit("a"), start.clone()).await.unwrap();
    assert_eq!(record.unit_changed(running(&start)).await.unwrap(), None);
    let wake = record
        .unit_changed(ended(&start, 3))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(wake.from, "bash-task-a");
    assert_eq!(wake.unit, id("a"));
    assert_eq!(wake.name.as_deref(), Some("name of a"));
    assert_eq!(wake.status, TaskState::Done);
    assert_eq!(wake.exit_code, Some(3));
    assert_eq!(wake.body, "last line");
    assert_eq!(wake.created_at, at(200));
    assert_eq!(wake.deliveries, 0);
    // The same end told again, as after an answer that was lost.
    assert_eq!(record.unit_changed(ended(&start, 3)).await.unwrap(), None);
    assert_eq!(record.wakes(10).await.unwrap(), [wake]);
}

#[tokio::test]
async fn no_other_kind_of_unit_makes_one() {
    let (_directory, record) = open();
    for kind in UnitKind::ALL.iter().filter(|kind| **kind != UnitKind::Task) {
        let mut new = unit(kind.as_str());
        new.kind = *kind;
        let start = starting(kind.as_str());
        record.unit_created(new, start.clone()).await.unwrap();
        assert_eq!(
            record.unit_changed(ended(&start, 1)).await.unwrap(),
            None,
            "{kind}"
        );
    }
    assert_eq!(record.wakes(10).await.unwrap(), []);
}

#[tokio::test]
async fn it_says_how_the_task_ended_and_never_that_a_killed_one_exited() {
    let (_directory, record) = open();
    let killed = exit(ExitStatus::Signaled {
        signal: Signal::KILL,
        core_dump: false,
    });
    for (expected, result, exit) in [
        (TaskState::TimedOut, UnitResult::Timeout, Some(&killed)),
        (TaskState::Stopped, UnitResult::Success, Some(&killed)),
        (TaskState::Interrupted, UnitResult::Success, None),
        (TaskState::Done, UnitResult::Signal, Some(&killed)),
        (TaskState::Done, UnitResult::Timeout, Some(&killed)),
        (TaskState::Done, UnitResult::Resources, None),
    ] {
        let name = format!("{}-{result}", expected.as_str().replace('_', "-"));
        let start = starting(&name);
        record
            .unit_created(unit(&name), start.clone())
            .await
            .unwrap();
        let mut end = ended(&start, 1);
        end.state.result = result;
        end.state.runtime_exceeded = expected == TaskState::TimedOut;
        end.state.stop_requested = expected == TaskState::Stopped;
        end.state.interrupted = expected == TaskState::Interrupted;
        end.state.exit = exit.cloned();
        let wake = record.unit_changed(end).await.unwrap().unwrap();
        assert_eq!((wake.status, wake.exit_code), (expected, None), "{name}");
    }
}

#[tokio::test]
async fn a_held_wake_goes_when_the_waiter_has_the_result_and_is_due_when_it_went_away() {
    let (_directory, record) = open();
    for (name, delivered) in [("a", true), ("b", false)] {
        let start = starting(name);
        record
            .unit_created(unit(name), start.clone())
            .await
            .unwrap();
        let mut end = ended(&start, 0);
        end.awaited = true;
        assert_eq!(record.unit_changed(end).await.unwrap(), None);
        assert_eq!(record.wakes_due().await.unwrap(), 0);
        let wake = record.wake_settled(&id(name), delivered).await.unwrap();
        assert_eq!(wake.is_none(), delivered, "{name}");
        // A second waiter finds it settled.
        assert_eq!(record.wake_settled(&id(name), false).await.unwrap(), None);
    }
    let due = record.wakes(10).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].unit, id("b"));
    assert_eq!(
        record.wake_settled(&id("nobody"), false).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn a_held_wake_is_due_after_a_restart() {
    let (directory, record) = open();
    let start = starting("a");
    record.unit_created(unit("a"), start.clone()).await.unwrap();
    let mut end = ended(&start, 0);
    end.awaited = true;
    record.unit_changed(end).await.unwrap();
    record.close().await;
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    assert_eq!(record.wakes(10).await.unwrap().len(), 1);
    assert_eq!(record.wakes_due().await.unwrap(), 1);
}

#[tokio::test]
async fn a_unit_that_is_started_again_makes_a_new_wake() {
    let (_directory, record) = open();
    let start = starting("a");
    record.unit_created(unit("a"), start.clone()).await.unwrap();
    let first = record
        .unit_changed(ended(&start, 1))
        .await
        .unwrap()
        .unwrap();
    let again = starting("a");
    record.unit_starting(again.clone()).await.unwrap();
    assert_eq!(record.unfinished_units().await.unwrap().len(), 1);
    let second = record
        .unit_changed(ended(&again, 0))
        .await
        .unwrap()
        .unwrap();
    assert!(second.id > first.id);
    assert_eq!(record.wakes(10).await.unwrap(), [first, second]);
}

#[tokio::test]
async fn wakes_are_delivered_until_they_are_acknowledged_once() {
    let (_directory, record) = open();
    for name in ["a", "b", "c"] {
        let start = starting(name);
        record
            .unit_created(unit(name), start.clone())
            .await
            .unwrap();
        record.unit_changed(ended(&start, 0)).await.unwrap();
    }
    let first = record.wakes_take(2).await.unwrap();
    let units: Vec<_> = first.iter().map(|wake| wake.unit.as_str()).collect();
    assert_eq!(units, ["a", "b"], "oldest first");
    let again = record.wakes_take(10).await.unwrap();
    let deliveries: Vec<_> = again.iter().map(|wake| wake.deliveries).collect();
    assert_eq!(deliveries, [2, 2, 1]);
    assert_eq!(
        record.wakes(1).await.unwrap()[0].deliveries,
        2,
        "looking is no delivery"
    );

    let ids = [
        first[0].id,
        WakeId(999),
        first[0].id,
        WakeId(-1),
        again[2].id,
    ];
    let acknowledged = record.wakes_ack(&ids).await.unwrap();
    assert_eq!(acknowledged, [first[0].id, again[2].id]);
    assert_eq!(record.wakes_ack(&ids).await.unwrap(), []);
    assert_eq!(record.wakes_ack(&[]).await.unwrap(), []);
    assert_eq!(record.wakes_due().await.unwrap(), 1);
    assert_eq!(record.wakes(10).await.unwrap()[0].unit, id("b"));
}

#[tokio::test]
async fn the_due_wakes_of_one_unit_are_acknowledged_and_no_others() {
    let (_directory, record) = open();
    for (name, awaited) in [("a", false), ("b", false), ("c", true)] {
        let start = starting(name);
        record
            .unit_created(unit(name), start.clone())
            .await
            .unwrap();
        let mut end = ended(&start, 0);
        end.awaited = awaited;
        record.unit_changed(end).await.unwrap();
    }
    // A held one belongs to its waiter.
    for name in ["a", "a", "absent", "c"] {
        record.wakes_ack_of(id(name));
    }
    let left = record.wakes_take(10).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].unit, id("b"));
    assert!(
        record
            .wake_settled(&id("c"), false)
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(record.wakes_due().await.unwrap(), 2);
}

#[tokio::test]
async fn an_id_is_never_used_again() {
    let (_directory, record) = open();
    let mut last = WakeId(0);
    for name in ["a", "b"] {
        let start = starting(name);
        record
            .unit_created(unit(name), start.clone())
            .await
            .unwrap();
        let wake = record
            .unit_changed(ended(&start, 0))
            .await
            .unwrap()
            .unwrap();
        assert!(wake.id > last);
        last = wake.id;
        record.wakes_ack(&[wake.id]).await.unwrap();
        record.remove_units(&[id(name)]).await.unwrap();
    }
}

#[tokio::test]
async fn a_body_beyond_bounds_keeps_its_end() {
    let (_directory, record) = open();
    let start = starting("a");
    record.unit_created(unit("a"), start.clone()).await.unwrap();
    let mut end = ended(&start, 0);
    end.last_lines = Some(format!("{}the end", "ä".repeat(1 << 20)));
    let wake = record.unit_changed(end).await.unwrap().unwrap();
    assert!(wake.body.ends_with("the end"));
    assert!(wake.body.len() <= 16 << 10);
}

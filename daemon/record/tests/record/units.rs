//! Units and their runs.

use harness_model::{
    ActiveState, ExitStatus, InvocationId, Limit, Signal, StoredUnit, SubState, TaskCounts,
    TaskQuery, TaskState, TimeSpan, UnitKind, UnitQuery, UnitResult,
};
use harness_record::{Error, Record};

use crate::support::{at, ended, exit, id, running, starting, unit};

fn open() -> (tempfile::TempDir, Record) {
    let directory = tempfile::tempdir().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    (directory, record)
}

#[tokio::test]
async fn a_unit_comes_back_as_it_was_written() {
    let (_directory, record) = open();
    let mut new = unit("a");
    new.settings.restart_sec = Some(TimeSpan::from_millis(250));
    new.settings.memory_max = Some(Limit::Max(512 << 20));
    let start = starting("a");
    record
        .unit_created(new.clone(), start.clone())
        .await
        .unwrap();
    let stored = record.unit(&id("a")).await.unwrap().unwrap();
    assert_eq!(stored.unit, new);
    assert_eq!(stored.state, start.state);
    assert_eq!(stored.recent_starts, start.recent_starts);
    assert_eq!(record.unit(&id("b")).await.unwrap(), None);
}

#[tokio::test]
async fn text_of_any_kind_comes_back_unchanged() {
    let (_directory, record) = open();
    let odd = "nul \0 bell \u{7} bidi \u{202e}abc\u{202c} lone escape \\ud800 \u{10ffff} '; DROP TABLE units; --";
    let mut new = unit("a");
    new.name = Some(odd.to_owned());
    new.command = odd.repeat(50_000);
    new.spec = format!(r#"{{"text":"\ud800 {}"}}"#, "x".repeat(1 << 20));
    new.cwd = String::new();
    let mut start = starting("a");
    start.state.note = Some(odd.to_owned());
    record
        .unit_created(new.clone(), start.clone())
        .await
        .unwrap();
    let mut end = ended(&start, 0);
    end.last_lines = Some(odd.to_owned());
    let wake = record.unit_changed(end.clone()).await.unwrap().unwrap();
    assert_eq!(wake.body, odd);
    let stored = record.unit(&id("a")).await.unwrap().unwrap();
    assert_eq!(stored.unit, new);
    assert_eq!(stored.state, end.state);
}

#[tokio::test]
async fn an_id_is_used_once() {
    let (_directory, record) = open();
    record.unit_created(unit("a"), starting("a")).await.unwrap();
    let error = record
        .unit_created(unit("a"), starting("a"))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, Error::Exists { what: "unit", id } if id == "a"),
        "{error:?}"
    );
    let end = ended(&starting("a"), 0);
    record.unit_changed(end).await.unwrap();
    assert!(record.unit_created(unit("a"), starting("a")).await.is_err());
}

#[tokio::test]
async fn a_change_of_a_unit_that_was_never_made_is_an_error() {
    let (_directory, record) = open();
    for outcome in [
        record.unit_starting(starting("a")).await,
        record
            .unit_changed(ended(&starting("a"), 0))
            .await
            .map(drop),
    ] {
        assert!(matches!(outcome, Err(Error::Unknown { .. })), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_note_is_written_in_its_place_and_never_wakes_the_dead() {
    let (_directory, record) = open();
    let start = starting("a");
    record.unit_created(unit("a"), start.clone()).await.unwrap();
    record.unit_noted(running(&start));
    record.flush().await.unwrap();
    assert_eq!(
        record.unit(&id("a")).await.unwrap().unwrap().state.pid,
        Some(4711)
    );

    let end = ended(&start, 0);
    record.unit_noted(running(&start));
    record.unit_changed(end.clone()).await.unwrap();
    record.unit_noted(running(&start));
    record.flush().await.unwrap();
    assert_eq!(
        record.unit(&id("a")).await.unwrap().unwrap().state,
        end.state
    );
}

#[tokio::test]
async fn pages_go_from_the_newest_to_the_oldest_without_gap_or_double() {
    let (_directory, record) = open();
    for number in 0..7 {
        let name = format!("u{number}");
        record
            .unit_created(unit(&name), starting(&name))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = record
            .units(UnitQuery {
                before,
                limit: Some(3),
                ..UnitQuery::default()
            })
            .await
            .unwrap();
        seen.extend(page.items.iter().map(|stored| stored.unit.id.to_string()));
        // A newcomer does not move the pages that follow.
        let name = format!("late{}", seen.len());
        record
            .unit_created(unit(&name), starting(&name))
            .await
            .unwrap();
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["u6", "u5", "u4", "u3", "u2", "u1", "u0"]);
}

#[tokio::test]
async fn a_page_has_a_default_and_a_largest_size() {
    let (_directory, record) = open();
    let creations = (0..1001).map(|number| {
        let name = format!("u{number}");
        let record = record.clone();
        async move { record.unit_created(unit(&name), starting(&name)).await }
    });
    for created in futures_util::future::join_all(creations).await {
        created.unwrap();
    }
    for (limit, expected) in [
        (None, 100),
        (Some(0), 1),
        (Some(1), 1),
        (Some(1000), 1000),
        (Some(u32::MAX), 1000),
    ] {
        let query = UnitQuery {
            limit,
            ..UnitQuery::default()
        };
        let page = record.units(query).await.unwrap();
        assert_eq!(page.items.len(), expected, "{limit:?}");
        assert!(page.next.is_some());
    }
}

fn ids(units: &[StoredUnit]) -> String {
    let ids: Vec<_> = units.iter().map(|stored| stored.unit.id.as_str()).collect();
    ids.join(" ")
}

#[tokio::test]
async fn units_are_listed_by_kind_and_by_state() {
    let (_directory, record) = open();
    for (name, kind, code) in [
        ("t1", UnitKind::Task, Some(1)),
        ("t2", UnitKind::Task, None),
        ("s1", UnitKind::Shell, Some(1)),
        ("m1", UnitKind::McpServer, None),
        ("t3", UnitKind::Task, Some(0)),
    ] {
        let mut new = unit(name);
        new.kind = kind;
        let start = starting(name);
        record.unit_created(new, start.clone()).await.unwrap();
        if let Some(code) = code {
            record.unit_changed(ended(&start, code)).await.unwrap();
        }
    }
    let (task, failed) = (Some(UnitKind::Task), Some(ActiveState::Failed));
    for (kind, state, expected) in [
        (None, None, "t3 m1 s1 t2 t1"),
        (task, None, "t3 t2 t1"),
        (task, failed, "t1"),
        (task, Some(ActiveState::Activating), "t2"),
        (task, Some(ActiveState::Active), ""),
        (None, failed, "s1 t1"),
        (None, Some(ActiveState::Activating), "m1 t2"),
        (None, Some(ActiveState::Inactive), "t3"),
        (Some(UnitKind::Hook), None, ""),
    ] {
        let query = UnitQuery {
            kind,
            state,
            ..UnitQuery::default()
        };
        let page = record.units(query).await.unwrap();
        assert_eq!(ids(&page.items), expected, "{kind:?} {state:?}");
        assert_eq!(page.next, None);
    }
    assert_eq!(ids(&record.unfinished_units().await.unwrap()), "t2 m1");
}

#[tokio::test]
async fn tasks_are_listed_by_their_one_word_through_every_change() {
    let (_directory, record) = open();
    let start = starting("a");
    let mut pending = start.clone();
    pending.state.started_at = None;
    record.unit_created(unit("a"), pending).await.unwrap();
    let mut shell = unit("s");
    shell.kind = UnitKind::Shell;
    record.unit_created(shell, starting("s")).await.unwrap();

    let mut stopped = ended(&start, 0);
    stopped.state.stop_requested = true;
    let mut lost = ended(&start, 1);
    lost.state.interrupted = true;
    let mut state = TaskState::Pending;
    for (then, change) in [
        (TaskState::Running, Some(running(&start))),
        (TaskState::Done, Some(ended(&start, 1))),
        (TaskState::Stopped, Some(stopped)),
        (TaskState::Interrupted, Some(lost)),
        (TaskState::Interrupted, None),
    ] {
        for asked in TaskState::ALL.iter().copied() {
            let query = TaskQuery {
                state: Some(asked),
                ..TaskQuery::default()
            };
            let page = record.tasks(query).await.unwrap();
            let expected = if asked == state { "a" } else { "" };
            assert_eq!(ids(&page.items), expected, "{asked} of a {state} task");
        }
        let all = record.tasks(TaskQuery::default()).await.unwrap();
        assert_eq!(ids(&all.items), "a");
        if let Some(change) = change {
            record.unit_changed(change).await.unwrap();
        }
        state = then;
    }
}

#[tokio::test]
async fn a_page_of_what_is_rare_is_full_however_much_lies_between() {
    let (_directory, record) = open();
    for number in 0..30 {
        let name = format!("u{number}");
        let start = starting(&name);
        record
            .unit_created(unit(&name), start.clone())
            .await
            .unwrap();
        if number % 10 != 0 {
            record.unit_changed(ended(&start, 0)).await.unwrap();
        }
    }
    let query = |before| TaskQuery {
        state: Some(TaskState::Running),
        limit: Some(2),
        before,
    };
    let first = record.tasks(query(None)).await.unwrap();
    assert_eq!(ids(&first.items), "u20 u10");
    let second = record.tasks(query(first.next)).await.unwrap();
    assert_eq!((ids(&second.items).as_str(), second.next), ("u0", None));
}

#[tokio::test]
async fn tasks_are_counted_through_every_change() {
    let (_directory, record) = open();
    let counts = |running, inactive, failed| TaskCounts {
        running,
        inactive,
        failed,
    };
    assert_eq!(record.task_counts().await.unwrap(), counts(0, 0, 0));
    let (one, two) = (starting("a"), starting("b"));
    record.unit_created(unit("a"), one.clone()).await.unwrap();
    record.unit_created(unit("b"), two.clone()).await.unwrap();
    let mut shell = unit("c");
    shell.kind = UnitKind::Shell;
    record.unit_created(shell, starting("c")).await.unwrap();
    record.unit_changed(running(&one)).await.unwrap();
    assert_eq!(record.task_counts().await.unwrap(), counts(2, 0, 0));
    record.unit_changed(ended(&one, 0)).await.unwrap();
    record.unit_changed(ended(&two, 3)).await.unwrap();
    record.unit_changed(ended(&two, 3)).await.unwrap();
    assert_eq!(record.task_counts().await.unwrap(), counts(0, 1, 1));
    record.unit_starting(starting("b")).await.unwrap();
    assert_eq!(record.task_counts().await.unwrap(), counts(1, 1, 0));
    assert_eq!(record.remove_units(&[id("a"), id("b")]).await.unwrap(), 1);
    assert_eq!(record.task_counts().await.unwrap(), counts(1, 0, 0));
}

#[tokio::test]
async fn each_run_is_kept_with_its_own_end() {
    let (_directory, record) = open();
    let first = starting("a");
    record.unit_created(unit("a"), first.clone()).await.unwrap();
    let mut waiting = ended(&first, 7);
    waiting.state.active_state = ActiveState::Activating;
    waiting.state.sub_state = SubState::AutoRestart;
    waiting.state.ended_at = None;
    record.unit_changed(waiting.clone()).await.unwrap();

    // While the second run lasts, `exit` is still that of the first.
    let mut second = waiting.clone();
    second.state.invocation = Some(InvocationId::generate());
    second.state.sub_state = SubState::Start;
    second.state.invocation_started_at = None;
    record.unit_starting(second.clone()).await.unwrap();
    record.unit_starting(second.clone()).await.unwrap();
    let mut up = running(&second);
    up.state.invocation_started_at = Some(at(150));
    record.unit_changed(up.clone()).await.unwrap();
    let runs = record.invocations(&id("a"), 10).await.unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(Some(&runs[0].id), second.state.invocation.as_ref());
    assert_eq!(runs[0].started_at, Some(at(150)));
    assert_eq!(runs[0].exit, None);
    assert_eq!(runs[1].exit, Some(exit(ExitStatus::Exited(7))));

    let mut end = ended(&up, 0);
    let killed = ExitStatus::Signaled {
        signal: Signal::KILL,
        core_dump: false,
    };
    end.state.exit = Some(exit(killed));
    end.state.result = UnitResult::Signal;
    record.unit_changed(end.clone()).await.unwrap();
    let runs = record.invocations(&id("a"), 1).await.unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].exit, end.state.exit);
}

#[tokio::test]
async fn a_unit_that_is_restarted_for_ever_keeps_its_last_thousand_runs() {
    let (_directory, record) = open();
    record.unit_created(unit("a"), starting("a")).await.unwrap();
    let mut starts = Vec::new();
    for _ in 0..1004 {
        starts.push(record.unit_starting(starting("a")));
    }
    for start in futures_util::future::join_all(starts).await {
        start.unwrap();
    }
    let runs = record.invocations(&id("a"), 5000).await.unwrap();
    assert_eq!(runs.len(), 1000);
}

#[tokio::test]
async fn what_is_old_is_found_and_removed_in_pieces() {
    let (_directory, record) = open();
    for number in 0..6 {
        let name = format!("u{number}");
        let start = starting(&name);
        record
            .unit_created(unit(&name), start.clone())
            .await
            .unwrap();
        if number != 1 {
            let mut end = ended(&start, 0);
            end.awaited = true;
            record.unit_changed(end).await.unwrap();
            // The wake of u2 is not acknowledged.
            record.wake_settled(&id(&name), number != 2).await.unwrap();
        }
    }
    let names = |units: &[harness_model::StoredUnit]| -> Vec<String> {
        units
            .iter()
            .map(|stored| stored.unit.id.to_string())
            .collect()
    };
    let late = at(1000);
    assert_eq!(
        names(&record.prunable_units(2, late, 10).await.unwrap()),
        ["u0", "u3"]
    );
    assert_eq!(
        names(&record.prunable_units(0, late, 1).await.unwrap()),
        ["u0"]
    );
    assert_eq!(record.prunable_units(9, late, 10).await.unwrap(), []);
    assert_eq!(record.prunable_units(0, at(200), 10).await.unwrap(), []);

    let gone = record
        .remove_units(&[id("u0"), id("u1"), id("u3"), id("u9")])
        .await
        .unwrap();
    assert_eq!(gone, 2, "a live one stays, an unknown one is no error");
    assert_eq!(record.unit(&id("u0")).await.unwrap(), None);
    assert_eq!(record.invocations(&id("u0"), 10).await.unwrap(), []);
    assert!(record.unit(&id("u1")).await.unwrap().is_some());
    assert_eq!(record.wakes_due().await.unwrap(), 1);
    record.remove_units(&[id("u2")]).await.unwrap();
    assert_eq!(record.wakes_due().await.unwrap(), 0);
}

#[tokio::test]
async fn after_close_everything_is_in_one_file_and_every_clone_says_so() {
    let (directory, record) = open();
    let clone = record.clone();
    let start = starting("a");
    let created = clone.unit_created(unit("a"), start.clone());
    let (created, ()) = tokio::join!(created, record.close());
    created.unwrap();
    let files: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["state.db"]);
    let error = clone
        .unit_created(unit("b"), starting("b"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Closed), "{error:?}");
    assert!(matches!(clone.unit(&id("a")).await, Err(Error::Closed)));
    record.close().await;

    let again = Record::open(&directory.path().join("state.db")).unwrap();
    assert_eq!(again.unfinished_units().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, _record) = open();
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{entry:?}");
    }
}

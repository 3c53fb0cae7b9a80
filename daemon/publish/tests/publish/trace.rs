//! The trace file.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use harness_model::Event;
use harness_publish::{Bus, TraceFile, trace};

use crate::support::{change, label, output};

const PLENTY: u64 = 1 << 30;

fn events(path: &Path) -> Vec<Event> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn labels(path: &Path) -> Vec<String> {
    events(path).iter().map(label).collect()
}

/// Traces what `publish` publishes, to the end.
async fn traced(file: TraceFile, publish: impl FnOnce(&Bus)) {
    let bus = Bus::new(0);
    let task = tokio::spawn(trace(bus.subscribe_without_output(None), file));
    publish(&bus);
    bus.close();
    task.await.unwrap();
}

#[tokio::test]
async fn each_event_is_a_line_and_output_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.ndjson");
    let bus = Bus::new(0);
    let file = TraceFile::open(&path, PLENTY).unwrap();
    let task = tokio::spawn(trace(bus.subscribe(None), file));
    bus.publish(change("a"));
    bus.publish(output("secret\n"));
    bus.publish(change("b"));
    bus.close();
    task.await.unwrap();
    assert_eq!(labels(&path), ["a", "b"]);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_later_start_goes_on_after_the_last_whole_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.ndjson");
    traced(TraceFile::open(&path, PLENTY).unwrap(), |bus| {
        bus.publish(change("a"));
    })
    .await;
    for unfinished in [r#"{"seq":9,"at":"#.to_owned(), "x".repeat(200_000)] {
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{unfinished}")).unwrap();
        drop(TraceFile::open(&path, PLENTY).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }
    traced(TraceFile::open(&path, PLENTY).unwrap(), |bus| {
        bus.publish(change("b"));
    })
    .await;
    assert_eq!(labels(&path), ["a", "b"]);
}

#[tokio::test]
async fn a_full_file_moves_aside_and_three_old_ones_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.ndjson");
    for start in 0..7 {
        let file = TraceFile::open(&path, 10).unwrap();
        traced(file, |bus| {
            bus.publish(change(&format!("u{start}")));
        })
        .await;
    }
    let mut names: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "trace.ndjson",
            "trace.ndjson.1",
            "trace.ndjson.2",
            "trace.ndjson.3"
        ]
    );
    for (name, expected) in names.iter().zip(["u6", "u5", "u4", "u3"]) {
        assert_eq!(labels(&directory.path().join(name)), [expected], "{name}");
    }
}

#[tokio::test]
async fn many_events_are_all_there_across_files_that_stay_within_their_size() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.ndjson");
    let file = TraceFile::open(&path, 100_000).unwrap();
    traced(file, |bus| {
        for number in 0..1000 {
            bus.publish(change(&format!("u{number}")));
        }
    })
    .await;
    let mut numbers = Vec::new();
    for name in [
        "trace.ndjson.3",
        "trace.ndjson.2",
        "trace.ndjson.1",
        "trace.ndjson",
    ] {
        let path = directory.path().join(name);
        if path.exists() {
            assert!(fs::metadata(&path).unwrap().len() <= 100_000, "{name}");
            numbers.extend(events(&path).iter().map(|event| event.seq));
        }
    }
    assert_eq!(numbers, (1..=1000).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_a_slow_disk_missed_is_said_in_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.ndjson");
    let bus = Bus::new(0);
    let mut witness = bus.subscribe_without_output(None);
    // A reader that never got to run has lost the oldest.
    let subscription = bus.subscribe_without_output(None);
    for number in 0..2000 {
        bus.publish(change(&format!("u{number}")));
    }
    bus.close();
    trace(subscription, TraceFile::open(&path, PLENTY).unwrap()).await;
    let labels = labels(&path);
    assert_eq!(labels.len(), 1 + 1024);
    assert_eq!(labels[0], "dropped 976");
    assert_eq!(label(&witness.next().await.unwrap()), "dropped 976");
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/trace.ndjson");
    let error = TraceFile::open(&path, PLENTY).unwrap_err();
    assert!(
        error.to_string().contains("missing/trace.ndjson"),
        "{error}"
    );
}

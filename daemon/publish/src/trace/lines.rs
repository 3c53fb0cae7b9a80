//! From events to lines, and what could not be written.

use std::sync::Arc;

use harness_model::{Event, EventBody};

use crate::TraceFile;

impl TraceFile {
    /// Appends the events' lines. Those that the file does not take are counted and reported by a
    /// `dropped` line as soon as it takes one again.
    pub(crate) fn write(&mut self, events: &[Arc<Event>]) {
        let mut lines = Vec::new();
        let mut count = 0;
        if let Some(first) = events.first().filter(|_| self.unwritten > 0) {
            let body = EventBody::Dropped {
                count: self.unwritten,
            };
            let dropped = Event {
                seq: first.seq.saturating_sub(1),
                at: first.at,
                body,
            };
            add(&mut lines, &dropped);
        }
        for event in events {
            count += add(&mut lines, event);
        }
        match self.append(&lines) {
            Ok(()) => self.unwritten = 0,
            Err(error) => {
                // Once for each time that it goes wrong, not for each event.
                if self.unwritten == 0 {
                    let source = &error.source;
                    tracing::warn!(%error, %source, "events are missing in the trace");
                }
                self.unwritten += count;
            }
        }
    }
}

/// Adds an event's line; says how many events that accounts for.
fn add(lines: &mut Vec<u8>, event: &Event) -> u64 {
    let whole = lines.len();
    let count = match &event.body {
        EventBody::ShellOutput { .. } => return 0,
        EventBody::Dropped { count } => *count,
        EventBody::ToolCall { .. }
        | EventBody::ToolResult { .. }
        | EventBody::NestedCall { .. }
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalResolved { .. }
        | EventBody::UnitChanged(_)
        | EventBody::PluginChanged(_)
        | EventBody::Wake(_) => 1,
    };
    match serde_json::to_writer(&mut *lines, event) {
        Ok(()) => lines.push(b'\n'),
        Err(error) => {
            lines.truncate(whole);
            tracing::warn!(%error, seq = event.seq, "an event has no JSON form and is not in the trace");
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use harness_model::{CallId, CallState, Timestamp};

    use super::*;

    fn event(seq: u64) -> Arc<Event> {
        Arc::new(Event {
            seq,
            at: Timestamp::from_micros(0),
            body: EventBody::ToolResult {
                call: CallId::generate(),
                state: CallState::Ok,
                code: None,
                duration_usec: 1,
            },
        })
    }

    /// The number of each line, and how many it says were dropped.
    fn written(path: &Path) -> Vec<(u64, u64)> {
        let text = fs::read_to_string(path).unwrap();
        let event = |line| match serde_json::from_str(line).unwrap() {
            Event {
                seq,
                body: EventBody::Dropped { count },
                ..
            } => (seq, count),
            Event { seq, .. } => (seq, 0),
        };
        text.lines().map(event).collect()
    }

    #[test]
    fn what_the_file_did_not_take_is_counted_and_said_in_it_later() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.ndjson");
        let mut file = TraceFile::open(&path, 10).unwrap();
        file.write(&[event(1)]);
        // The file is full now, and a directory is where the oldest has to go.
        fs::write(directory.path().join("trace.ndjson.2"), "").unwrap();
        let obstacle = directory.path().join("trace.ndjson.3");
        fs::create_dir_all(obstacle.join("inner")).unwrap();
        file.write(&[event(2), event(3)]);
        file.write(&[event(4)]);
        assert_eq!(written(&path), [(1, 0)]);

        fs::remove_dir_all(obstacle).unwrap();
        file.write(&[event(5)]);
        assert_eq!(written(&path), [(4, 3), (5, 0)]);
        let old = directory.path().join("trace.ndjson.1");
        assert_eq!(written(&old), [(1, 0)]);
    }
}

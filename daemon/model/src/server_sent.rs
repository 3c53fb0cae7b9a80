//! Server-sent events, as the HTML standard has them (section "Server-sent events"): `/v1/events`, and streams of MCP.

use std::time::Duration;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSentEvent {
    /// Its `id:`, if it has one of its own.
    pub id: Option<String>,
    /// Its `event:`, or `message`.
    pub event: String,
    /// Its `data:` lines.
    pub data: String,
}

/// An event is longer than its reader takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than {limit} bytes")]
pub struct OverlongEvent {
    /// The limit.
    pub limit: usize,
}

/// Bytes in, events out, wherever the bytes were cut.
#[derive(Debug)]
pub struct ServerSentReader {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it ends no second line.
    after_return: bool,
    begun: bool,
    id: Option<String>,
    event: String,
    data: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl ServerSentReader {
    /// A reader of events of at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            begun: false,
            id: None,
            event: String::new(),
            data: None,
            last_id: None,
            retry: None,
        }
    }

    /// A stream that goes on where another broke off: the event that was cut is forgotten.
    pub fn begin_again(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Self {
            last_id,
            retry,
            ..Self::new(self.limit)
        };
    }

    /// The last `id:`, from which the stream can be resumed.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The last `retry:`: how long to wait before the stream is resumed.
    #[must_use]
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes the next bytes; the events that they complete.
    ///
    /// # Errors
    /// An event is longer than the limit; nothing after it can be read.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<ServerSentEvent>, OverlongEvent> {
        let mut events = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_of_line(&line));
                }
                _ => {
                    self.after_return = false;
                    self.line.push(*byte);
                }
            }
        }
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > self.limit {
            return Err(OverlongEvent { limit: self.limit });
        }
        Ok(events)
    }

    fn end_of_line(&mut self, line: &[u8]) -> Option<ServerSentEvent> {
        let line = String::from_utf8_lossy(line);
        let line = if self.begun {
            &*line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(&line)
        };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" if !value.contains('\0') => {
                self.last_id = Some(value.to_owned()).filter(|id| !id.is_empty());
                self.id = Some(value.to_owned());
            }
            "event" => value.clone_into(&mut self.event),
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments have an empty name.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<ServerSentEvent> {
        let id = self.id.take();
        let event = std::mem::take(&mut self.event);
        let data = self.data.take()?;
        let event = if event.is_empty() {
            "message".to_owned()
        } else {
            event
        };
        Some(ServerSentEvent { id, event, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: open\r\n\r\nid: b-1\revent: wake\rdata: {\"ä\":1}\r\rretry: 9\nid: b-2\ndata:a\ndata: b\n\nevent: none\n\nid\ndata\n\nid: b-3\n\ndata: cut";

    fn expected() -> Vec<ServerSentEvent> {
        let event = |id: &str, event: &str, data: &str| ServerSentEvent {
            id: Some(id.into()),
            event: event.into(),
            data: data.into(),
        };
        vec![
            event("b-1", "wake", "{\"ä\":1}"),
            event("b-2", "message", "a\nb"),
            event("", "message", ""),
        ]
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        for cut in 0..=STREAM.len() {
            let (head, tail) = STREAM.as_bytes().split_at(cut);
            let mut reader = ServerSentReader::new(1000);
            let mut events = reader.push(head).unwrap();
            events.extend(reader.push(tail).unwrap());
            assert_eq!(events, expected(), "cut at {cut}");
            assert_eq!(reader.last_id(), Some("b-3"));
            assert_eq!(reader.retry(), Some(Duration::from_millis(9)));
        }
    }

    #[test]
    fn a_stream_that_goes_on_keeps_its_place_and_forgets_what_was_cut() {
        let mut reader = ServerSentReader::new(1000);
        reader
            .push(b"id: 7\nretry: 5\ndata: whole\n\ndata: cu")
            .unwrap();
        reader.begin_again();
        assert_eq!(
            (reader.last_id(), reader.retry()),
            (Some("7"), Some(Duration::from_millis(5)))
        );
        let events = reader.push("\u{feff}data: next\n\n".as_bytes()).unwrap();
        assert_eq!(events[0].data, "next");
    }

    #[test]
    fn an_endless_event_ends_as_an_error() {
        let limit = 1000;
        let mut reader = ServerSentReader::new(limit);
        assert_eq!(reader.push(&[b'x'; 1001]), Err(OverlongEvent { limit }));
        let mut reader = ServerSentReader::new(limit);
        let lines = "data: xxxxxxxx\n".repeat(200);
        assert_eq!(reader.push(lines.as_bytes()), Err(OverlongEvent { limit }));
    }
}

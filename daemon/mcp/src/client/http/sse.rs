//! Reads server-sent events, as the HTML standard has them (section "Server-sent events").

use std::time::Duration;

/// What an event holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SseEvent {
    /// Its `data:` lines; empty where it has none.
    pub(super) data: String,
}

/// An event is longer than any message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Overlong;

/// Bytes in, events out, wherever the bytes were cut.
#[derive(Debug)]
pub(super) struct SseReader {
    line: Vec<u8>,
    after_return: bool,
    begun: bool,
    data: Option<String>,
    limit: usize,
    /// The last `id:`, from which the stream can be resumed.
    pub(super) last_id: Option<String>,
    /// The last `retry:`.
    pub(super) retry: Option<Duration>,
}

impl SseReader {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            after_return: false,
            begun: false,
            data: None,
            limit,
            last_id: None,
            retry: None,
        }
    }

    /// A stream that goes on where another broke off begins with a new line.
    pub(super) fn begin_again(&mut self) {
        self.line.clear();
        self.data = None;
        self.begun = false;
        self.after_return = false;
    }

    /// Takes the next bytes; the events they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, Overlong> {
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
            return Err(Overlong);
        }
        Ok(events)
    }

    fn end_of_line(&mut self, line: &[u8]) -> Option<SseEvent> {
        let line = String::from_utf8_lossy(line);
        let line = if self.begun {
            &*line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(&line)
        };
        self.begun = true;
        if line.is_empty() {
            return self.data.take().map(|data| SseEvent { data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" if !value.contains('\0') => {
                self.last_id = Some(value.to_owned()).filter(|id| !id.is_empty());
            }
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // All events of MCP are of one kind, and comments have an empty name.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: open\r\n\r\nid: b-1\revent: message\rdata: {\"ä\":1}\r\rretry: 9\nid: b-2\ndata:a\ndata: b\n\nevent: none\n\nid: b-3\ndata\n\ndata: cut";

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        for cut in 0..=STREAM.len() {
            let (head, tail) = STREAM.as_bytes().split_at(cut);
            let mut reader = SseReader::new(1000);
            let mut events = reader.push(head).unwrap();
            events.extend(reader.push(tail).unwrap());
            let data: Vec<&str> = events.iter().map(|event| event.data.as_str()).collect();
            assert_eq!(data, ["{\"ä\":1}", "a\nb", ""], "cut at {cut}");
            assert_eq!(reader.last_id.as_deref(), Some("b-3"));
            assert_eq!(reader.retry, Some(Duration::from_millis(9)));
        }
    }

    #[test]
    fn an_endless_event_ends_as_an_error() {
        let mut reader = SseReader::new(1000);
        assert_eq!(reader.push(&[b'x'; 1001]), Err(Overlong));
    }
}

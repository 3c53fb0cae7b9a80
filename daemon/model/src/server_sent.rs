//! Reads server-sent events, as the HTML standard has them (section "Server-sent events").

use crate::{Error, Result};

/// One event is no longer than this, in bytes.
pub(crate) const MAX_EVENT: usize = 16 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// Its `id:`, if it has one of its own.
    pub(crate) id: Option<String>,
    /// Its `event:`, or `message`.
    pub(crate) event: String,
    /// Its `data:` lines.
    pub(crate) data: String,
}

/// Bytes in, events out, wherever the bytes were cut.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it ends no second line.
    after_return: bool,
    begun: bool,
    id: Option<String>,
    event: String,
    data: Option<String>,
}

impl Parser {
    /// Takes the next bytes and appends the events they complete to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut impl Extend<Message>) -> Result<()> {
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    out.extend(self.end_of_line(&line));
                }
                _ => {
                    self.after_return = false;
                    self.line.push(*byte);
                }
            }
        }
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > MAX_EVENT {
            return Err(Error::Overlong { limit: MAX_EVENT });
        }
        Ok(())
    }

    fn end_of_line(&mut self, line: &[u8]) -> Option<Message> {
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
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.event),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments have an empty name; `retry` and what is not known are not for us.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Message> {
        let id = self.id.take();
        let event = std::mem::take(&mut self.event);
        let data = self.data.take()?;
        let event = if event.is_empty() {
            "message".to_owned()
        } else {
            event
        };
        Some(Message { id, event, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: open\r\n\r\nid: b-1\revent: wake\rdata: {\"ä\":1}\r\rdata:a\ndata: b\n\nevent: none\n\nid\ndata\n\nretry: 9\ndata: cut";

    fn expected() -> Vec<Message> {
        let message = |id: Option<&str>, event: &str, data: &str| Message {
            id: id.map(Into::into),
            event: event.into(),
            data: data.into(),
        };
        vec![
            message(Some("b-1"), "wake", "{\"ä\":1}"),
            message(None, "message", "a\nb"),
            message(Some(""), "message", ""),
        ]
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        for cut in 0..=STREAM.len() {
            let (head, tail) = STREAM.as_bytes().split_at(cut);
            let mut messages = Vec::new();
            let mut parser = Parser::default();
            parser.push(head, &mut messages).unwrap();
            parser.push(tail, &mut messages).unwrap();
            assert_eq!(messages, expected(), "cut at {cut}");
        }
    }

    #[test]
    fn an_endless_event_ends_as_an_error() {
        let mut parser = Parser::default();
        let mut messages = Vec::new();
        let line = vec![b'x'; 1 << 20];
        let error = (0..17).find_map(|_| parser.push(&line, &mut messages).err());
        assert!(matches!(error, Some(Error::Overlong { .. })));
        assert!(messages.is_empty());
    }
}

//! The lines of the client.

use std::io::{self, BufRead, BufReader, Read};

use crate::library::TEXT_MAX;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// It was longer than a message may be, and is gone.
    TooLong,
    /// The client has closed its side.
    End,
}

/// Reads lines of bounded length.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
        }
    }

    /// The next line that is not blank.
    pub(crate) fn next(&mut self) -> io::Result<Line> {
        loop {
            let mut line = Vec::new();
            let limit = (TEXT_MAX + 1) as u64;
            self.reader
                .by_ref()
                .take(limit)
                .read_until(b'\n', &mut line)?;
            if line.is_empty() {
                return Ok(Line::End);
            }
            if line.len() > TEXT_MAX && !line.ends_with(b"\n") {
                self.skip()?;
                return Ok(Line::TooLong);
            }
            line.truncate(line.trim_ascii_end().len());
            if !line.is_empty() {
                return Ok(Line::Text(line));
            }
        }
    }

    /// Passes over the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        loop {
            let held = self.reader.fill_buf()?;
            let (used, ended) = match held.iter().position(|byte| *byte == b'\n') {
                Some(place) => (place + 1, true),
                None => (held.len(), held.is_empty()),
            };
            self.reader.consume(used);
            if ended {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_line_ends_and_a_last_one_without() {
        let mut lines = Lines::new(&b"a\r\n\n  \nb"[..]);
        assert_eq!(lines.next().unwrap(), Line::Text(b"a".to_vec()));
        assert_eq!(lines.next().unwrap(), Line::Text(b"b".to_vec()));
        assert_eq!(lines.next().unwrap(), Line::End);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let mut text = vec![b'x'; TEXT_MAX + 70_000];
        text.extend_from_slice(b"\nnext\n");
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next().unwrap(), Line::TooLong);
        assert_eq!(lines.next().unwrap(), Line::Text(b"next".to_vec()));
    }
}

//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// What the reader keeps allocated between lines, in bytes.
const KEEP: usize = 64 * 1024;

/// What is kept of a line that is too long, in bytes.
const BEGINNING: usize = 512;

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, in [`Lines::text`]; also the last one without a line end.
    Text,
    /// A line longer than the limit; how it begins is in [`Lines::beginning`]. Its rest is skipped.
    TooLong,
    /// Nothing more.
    End,
}

/// Reads lines and never holds more than one of them.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    beginning: Vec<u8>,
    limit: usize,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            beginning: Vec::new(),
            limit,
            skipping: false,
        }
    }

    /// The line that [`Lines::next`] announced, without white space around it.
    pub(crate) fn text(&self) -> &[u8] {
        let line = self.line.trim_ascii();
        // RFC 8259 §8.1: a byte order mark may be ignored.
        line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
    }

    /// How the line begins that was too long.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// Forgets that line.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
        self.line.shrink_to(KEEP);
    }

    /// Reads on. Dropping the future loses nothing: what was read stays for the next call.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                self.skipping = false;
                return Ok(if self.line.is_empty() {
                    Line::End
                } else {
                    Line::Text
                });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let part = available.get(..end.unwrap_or(taken)).unwrap_or_default();
            let fits = self.line.len() + part.len() <= self.limit;
            if !self.skipping && !fits {
                self.beginning.clear();
                self.beginning
                    .extend(self.line.iter().chain(part).take(BEGINNING));
            }
            if self.skipping {
                self.skipping = end.is_none();
            } else if fits {
                self.line.extend_from_slice(part);
            }
            let (skipped, too_long) = (self.skipping, !fits);
            self.reader.consume(taken);
            if skipped {
                continue;
            }
            if too_long {
                self.clear();
                self.skipping = end.is_none();
                return Ok(Line::TooLong);
            }
            if end.is_some() && !self.line.is_empty() {
                return Ok(Line::Text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8], limit: usize) -> Vec<String> {
        let mut lines = Lines::new(input, limit);
        let mut seen = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::Text => seen.push(String::from_utf8_lossy(lines.text()).into_owned()),
                Line::TooLong => seen.push("too long".to_owned()),
                Line::End => return seen,
            }
            lines.clear();
        }
    }

    #[tokio::test]
    async fn lines_end_with_or_without_a_carriage_return_and_the_last_one_needs_no_end() {
        assert_eq!(all(b"a\r\n\n\nb\n c ", 10).await, ["a", "b", "c"]);
        assert_eq!(all(b"", 10).await, [""; 0]);
        assert_eq!(all(b"\xEF\xBB\xBFa\n", 10).await, ["a"]);
    }

    #[tokio::test]
    async fn a_line_of_just_the_limit_passes_and_a_longer_one_is_skipped_to_its_end() {
        let limit = 20_000;
        let fitting = "x".repeat(limit);
        let input = format!("{fitting}\n{fitting}y\nafter\n{fitting}y");
        let seen = all(input.as_bytes(), limit).await;
        assert_eq!(seen, [fitting.as_str(), "too long", "after", "too long"]);
    }

    #[tokio::test]
    async fn a_long_line_does_not_stay_allocated() {
        let input = vec![b'x'; 1024 * 1024];
        let mut lines = Lines::new(input.as_slice(), 2 * 1024 * 1024);
        assert_eq!(lines.next().await.unwrap(), Line::Text);
        lines.clear();
        assert!(lines.line.capacity() <= KEEP);
    }
}

//! Here-documents.

use crate::lexer::{Origin, Parser, Region, Walk, WordMode};
use crate::word::Word;

/// A here-document whose body has not been read yet.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    delimiter: Vec<u8>,
    /// The delimiter was quoted: nothing in the body is expanded.
    is_literal: bool,
    /// `<<-`: leading tabs are removed.
    strips_tabs: bool,
}

impl Parser<'_, '_> {
    /// Reads the delimiter behind `<<` or `<<-`.
    pub(crate) fn here_document_start(&mut self, strips_tabs: bool) -> Walk<Word> {
        self.blanks();
        let word = self.word(WordMode::Plain)?;
        let raw = self.text.get(word.start..word.end).unwrap_or_default();
        let has = |byte: u8| raw.contains(&byte);
        let Some(text) = word.constant() else {
            return Err(self.syntax("an expansion in the delimiter of a here-document"));
        };
        if has(b'\n') || has(b'$') || has(b'`') || (has(b'"') && has(b'\\')) {
            return Err(self.syntax("an unusual delimiter of a here-document"));
        }
        let span = self.span(word.start, word.end);
        self.pending.push(Pending {
            delimiter: text.into_bytes(),
            is_literal: word.quoted,
            strips_tabs,
        });
        Ok(word.word(span))
    }

    /// Reads the body that begins here, and the delimiter behind it.
    pub(crate) fn here_document(&mut self, document: &Pending) -> Walk {
        let start = self.at;
        let mut stripped = Vec::new();
        let mut was_stripped = false;
        loop {
            let line_start = self.at;
            if line_start >= self.text.len() {
                self.at = start;
                return Err(self.syntax("a here-document that does not end"));
            }
            let line = self.document_line(document.is_literal);
            let tabs = if document.strips_tabs {
                line.iter().take_while(|b| **b == b'\t').count()
            } else {
                0
            };
            let content = line.get(tabs..).unwrap_or_default();
            if content == document.delimiter {
                return self.body(
                    document,
                    start,
                    line_start,
                    was_stripped.then_some(stripped),
                );
            }
            // Within `$(…)` bash lets a document end in the middle of a line.
            if self.in_substitution
                && content.starts_with(&document.delimiter)
                && content.contains(&b')')
            {
                return Err(self.syntax("a here-document that may end within a line"));
            }
            if document.strips_tabs {
                was_stripped |= tabs > 0;
                stripped.extend_from_slice(
                    self.text
                        .get(line_start + tabs..self.at)
                        .unwrap_or_default(),
                );
            }
        }
    }

    /// One line without its newline; where expansions happen, continued lines are joined before
    /// they are compared with the delimiter.
    fn document_line(&mut self, is_literal: bool) -> Vec<u8> {
        let mut line = Vec::new();
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\n' => break,
                b'\\' if !is_literal => match self.peek() {
                    Some(b'\n') => self.at += 1,
                    Some(next) => {
                        line.extend_from_slice(&[byte, next]);
                        self.at += 1;
                    }
                    None => line.push(byte),
                },
                _ => line.push(byte),
            }
        }
        line
    }

    fn body(
        &mut self,
        document: &Pending,
        start: usize,
        end: usize,
        stripped: Option<Vec<u8>>,
    ) -> Walk {
        if document.is_literal || start == end {
            return Ok(());
        }
        let context = self.context.clone();
        let (text, dialect) = (self.text, self.dialect);
        if let Some(body) = stripped {
            let origin = Origin::Fixed(self.span(start, end));
            return self.inner_region(&body, origin, Region::Body, context, dialect);
        }
        let body = text.get(start..end).unwrap_or_default();
        self.inner_region(body, self.origin_at(start), Region::Body, context, dialect)
    }
}

//! A word while it is read.

use super::pieces::{Piece, Pieces};
use crate::word::{Span, Word, WordKind};

/// A word, or the text of an expression, with what its expansions are.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "properties of a word that are independent"
)]
pub(crate) struct Lexeme {
    pub(crate) pieces: Pieces,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Has a quoting character.
    pub(crate) quoted: bool,
    /// Has a line continuation.
    pub(crate) continued: bool,
    /// Pathname, brace or tilde expansion may apply.
    pub(crate) pattern: bool,
    /// May become none or several words.
    pub(crate) splits: bool,
}

impl Lexeme {
    /// Where literal text is to be appended.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        self.pieces.last_text()
    }

    /// An expansion; unquoted ones are split into words.
    pub(crate) fn expansion(&mut self, piece: Piece, unquoted: bool) {
        self.splits |= unquoted;
        self.pieces.push(piece);
    }

    /// The value, if there are no expansions; patterns are as written.
    pub(crate) fn constant(&self) -> Option<String> {
        match self.pieces.single() {
            None if self.pieces.is_empty() => Some(String::new()),
            Some(Piece::Text(text)) => match std::str::from_utf8(text) {
                Ok(text) => Some(text.to_owned()),
                Err(_) => Some(String::from_utf8_lossy(text).into_owned()),
            },
            _ => None,
        }
    }

    /// The literal text it begins with.
    pub(crate) fn prefix(&self) -> String {
        match self.pieces.first() {
            Some(Piece::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            Some(Piece::Variable(_) | Piece::Derived(_) | Piece::Integer | Piece::Unknown)
            | None => String::new(),
        }
    }

    /// Its value, if it is exactly that.
    pub(crate) fn literal(&self) -> Option<String> {
        if self.pattern { None } else { self.constant() }
    }

    /// The part behind the first `skip` bytes of the leading text.
    pub(crate) fn behind(&self, skip: usize) -> Self {
        let mut rest = self.clone();
        if let Some(Piece::Text(text)) = rest.pieces.first_mut() {
            text.drain(..skip.min(text.len()));
        }
        rest
    }

    /// The word, and what else is known about it; a text that is all of it moves into the word.
    pub(crate) fn into_word(mut self, span: Span) -> (Self, Word) {
        if !self.pattern
            && let Some(text) = self.pieces.take_text()
        {
            let text = String::from_utf8(text)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
            let kind = WordKind::Literal(text);
            return (self, Word { kind, span });
        }
        let word = self.word(span);
        (self, word)
    }

    pub(crate) fn word(&self, span: Span) -> Word {
        let kind = match self.constant() {
            Some(text) if self.pattern => WordKind::Glob { text },
            Some(text) => WordKind::Literal(text),
            None => WordKind::Dynamic {
                prefix: if self.pattern {
                    self.plain_prefix()
                } else {
                    self.prefix()
                },
                one_word: !self.splits && !self.pattern,
            },
        };
        Word { kind, span }
    }

    /// The prefix up to the first character that an expansion may replace.
    fn plain_prefix(&self) -> String {
        let prefix = self.prefix();
        let end = prefix
            .find(['*', '?', '[', '{', '~', '('])
            .unwrap_or(prefix.len());
        prefix.get(..end).unwrap_or("").to_owned()
    }
}

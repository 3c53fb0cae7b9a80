//! The pieces of a word: most often just one.

use crate::value::Value;

/// A part of a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Literal text after quote removal.
    Text(Vec<u8>),
    /// The value of this variable.
    Variable(String),
    /// Made of the values of variables, and maybe other text.
    Derived(Box<Value>),
    /// An expansion that is an integer or empty, whatever happens.
    Integer,
    /// Any other expansion.
    #[default]
    Unknown,
}

/// A list that needs no memory of its own for its first element.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pieces {
    first: Option<Piece>,
    rest: Vec<Piece>,
}

impl Pieces {
    pub(crate) fn push(&mut self, piece: Piece) {
        if self.first.is_none() {
            self.first = Some(piece);
        } else {
            self.rest.push(piece);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
    }

    pub(crate) fn first(&self) -> Option<&Piece> {
        self.first.as_ref()
    }

    pub(crate) fn first_mut(&mut self) -> Option<&mut Piece> {
        self.first.as_mut()
    }

    /// The only one.
    pub(crate) fn single(&self) -> Option<&Piece> {
        self.first.as_ref().filter(|_| self.rest.is_empty())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn last(&self) -> Option<&Piece> {
        self.rest.last().or(self.first.as_ref())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.first.iter().chain(&self.rest)
    }

    /// The text at the end, which is begun if there is none.
    pub(crate) fn last_text(&mut self) -> &mut Vec<u8> {
        if !matches!(self.last(), Some(Piece::Text(_))) {
            self.push(Piece::Text(Vec::new()));
        }
        let last = match self.rest.last_mut() {
            Some(last) => last,
            None => self.first.get_or_insert(Piece::Text(Vec::new())),
        };
        match last {
            Piece::Text(text) => text,
            // A text was pushed just above.
            Piece::Variable(_) | Piece::Derived(_) | Piece::Integer | Piece::Unknown => {
                unreachable!()
            }
        }
    }

    /// Takes the text out, if that is all there is.
    pub(crate) fn take_text(&mut self) -> Option<Vec<u8>> {
        match self.first.take() {
            Some(Piece::Text(text)) if self.rest.is_empty() => Some(text),
            other => {
                self.first = other;
                None
            }
        }
    }
}

impl FromIterator<Piece> for Pieces {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        let mut list = Self::default();
        for piece in pieces {
            list.push(piece);
        }
        list
    }
}

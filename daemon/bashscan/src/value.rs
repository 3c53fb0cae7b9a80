//! What the variables of a script can hold.
//!
//! bash takes some values for more than text. In arithmetic the value of a variable is an expression
//! of its own, and a subscript in it is expanded: with `x='a[$(rm)]'`, `$((x))` runs `rm`, and so
//! does `[ $x ]` with `x='-v a[$(rm)]'`. Such uses are understood only if everything the script ever
//! gives the variable is harmless there, in whatever order it runs.

mod constant;
mod expression;
mod graph;
mod origin;
mod output;
mod setting;
mod solve;
mod table;

use crate::lexer::{Lexeme, Piece};

pub(crate) use output::{function_site, output};
pub(crate) use setting::is_plain_setting;
pub(crate) use table::{Need, Values, positional_in};

/// What a text may consist of, the tamest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Digits and signs, or nothing.
    Integer,
    /// No character that begins a subscript, a pattern or an escape.
    Plain,
    /// Anything.
    Unknown,
}

/// What a value may be: the worst of its own text and of these variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    pub(crate) names: Vec<String>,
    /// Its own text puts a `-` at its start.
    pub(crate) dash: bool,
    /// Its own text puts a `-` where a word within it may begin.
    pub(crate) inner_dash: bool,
    /// It begins with text, so that no variable can begin it.
    pub(crate) leads: bool,
}

impl Value {
    pub(crate) fn of_kind(kind: Kind) -> Self {
        let unknown = kind == Kind::Unknown;
        Self {
            kind,
            names: Vec::new(),
            dash: unknown,
            inner_dash: unknown,
            leads: false,
        }
    }

    /// The value of a variable.
    pub(crate) fn of_name(name: String) -> Self {
        Self {
            names: vec![name],
            ..Self::of_kind(Kind::Integer)
        }
    }

    /// An integer, whatever the variables are.
    pub(crate) fn is_certain_integer(&self) -> bool {
        self.kind == Kind::Integer && self.names.is_empty()
    }

    /// Just this text.
    pub(crate) fn of_text(text: &str) -> Self {
        let mut value = Self::of_kind(Kind::Integer);
        value.add_text(text.as_bytes(), false);
        value
    }

    /// What a word's value may be.
    pub(crate) fn of(word: &Lexeme) -> Self {
        let mut value = Self::of_kind(Kind::Integer);
        for piece in word.pieces.iter() {
            match piece {
                Piece::Text(text) => value.add_text(text, word.pattern),
                Piece::Variable(name) => value.names.push(name.clone()),
                Piece::Derived(inner) => value.add(inner),
                Piece::Integer => {}
                Piece::Unknown => value.add(&Self::of_kind(Kind::Unknown)),
            }
        }
        value
    }

    /// Either this or the other, or one behind the other.
    pub(crate) fn add(&mut self, other: &Self) {
        self.kind = self.kind.max(other.kind);
        self.names.extend_from_slice(&other.names);
        self.dash |= other.dash && !self.leads;
        self.inner_dash |= other.inner_dash || other.dash;
    }

    /// Either this or the other.
    pub(crate) fn or(&mut self, other: &Self) {
        let leads = self.leads && other.leads;
        self.leads = false;
        self.add(other);
        self.leads = leads;
    }

    fn add_text(&mut self, text: &[u8], pattern: bool) {
        let is_first = self.kind == Kind::Integer && self.names.is_empty() && !self.leads;
        self.kind = self.kind.max(kind_of(text, pattern));
        self.dash |= is_first && text.first() == Some(&b'-');
        self.inner_dash |= (!is_first && text.first() == Some(&b'-'))
            || text
                .windows(2)
                .any(|pair| matches!(pair, [b' ' | b'\t' | b'\n', b'-']));
        self.leads |= is_first && text.first().is_some_and(|byte| *byte != b'-');
    }
}

/// What a literal part of a word may become.
fn kind_of(text: &[u8], pattern: bool) -> Kind {
    let digits = text
        .strip_prefix(b"-")
        .or_else(|| text.strip_prefix(b"+"))
        .unwrap_or(text);
    if digits.iter().all(u8::is_ascii_digit) || is_range(text) {
        return Kind::Integer;
    }
    // What a pattern, braces or a tilde become is not up to the text. A backslash may be an escape.
    let plain = |byte: &u8| !matches!(byte, b'[' | b'*' | b'?' | b'\\');
    if !pattern && text.iter().all(plain) {
        Kind::Plain
    } else {
        Kind::Unknown
    }
}

/// `{1..10}`, which becomes integers.
fn is_range(text: &[u8]) -> bool {
    text.starts_with(b"{")
        && text.ends_with(b"}")
        && text
            .iter()
            .all(|b| b.is_ascii_digit() || matches!(b, b'{' | b'}' | b'.' | b',' | b'-'))
}

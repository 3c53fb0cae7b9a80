//! Words and assignments.

use super::{Lexeme, Parser, Piece, Quote, Walk};
use crate::context::Place;
use crate::variable::is_identifier_start;

/// Where a word stands, as far as that decides where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordMode {
    /// Anywhere in a command.
    Plain,
    /// Within `[[ … ]]`: extended patterns are on.
    Condition,
    /// To the right of `=~`.
    Regex,
}

/// An assignment that stands before a command or as an argument of `declare` and its kin.
pub(crate) struct Assigned {
    pub(crate) name: String,
    /// The word that it is given; none if it is a list, or is put behind what was there.
    pub(crate) value: Option<Lexeme>,
    /// Nothing is left of what the variable was.
    pub(crate) whole: bool,
    pub(crate) start: usize,
}

/// Finds brace expansion: `{`, then a `,` or `..`, then `}`, all unquoted.
#[derive(Default)]
struct Braces {
    open: bool,
    separated: bool,
    dot_at: Option<usize>,
}

impl Braces {
    fn see(&mut self, byte: u8, at: usize) -> bool {
        match byte {
            b'{' => self.open = true,
            b',' => self.separated |= self.open,
            b'.' => {
                self.separated |= self.open && self.dot_at == at.checked_sub(1);
                self.dot_at = Some(at);
            }
            b'}' => return self.separated,
            _ => {}
        }
        false
    }
}

impl Parser<'_, '_> {
    /// Reads one word, which must not be empty.
    pub(crate) fn word(&mut self, mode: WordMode) -> Walk<Lexeme> {
        let mut word = Lexeme {
            start: self.at,
            ..Lexeme::default()
        };
        self.word_into(&mut word, mode)?;
        if self.at == word.start {
            return Err(self.syntax("a word is missing"));
        }
        Ok(word)
    }

    /// Reads the rest of a word, which may be empty.
    pub(crate) fn word_into(&mut self, word: &mut Lexeme, mode: WordMode) -> Walk {
        let start = self.at;
        let mut braces = Braces::default();
        let mut bracket = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' if mode == WordMode::Regex
                    || (mode == WordMode::Condition && self.after_extglob(start)) =>
                {
                    word.pattern = true;
                    self.deeper(|this| this.pattern_group(word))?;
                }
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'(' | b')' => break,
                b'|' if mode != WordMode::Regex => break,
                b'<' | b'>' => {
                    if self.peek_at(1) != Some(b'(') {
                        break;
                    }
                    if mode == WordMode::Regex {
                        return Err(self.syntax("a process substitution in a regular expression"));
                    }
                    self.process_substitution(word)?;
                }
                b'\\' => self.backslash(word)?,
                b'\'' => self.single_quoted(word)?,
                b'"' => self.double_quoted(word)?,
                b'$' => self.dollar(word, Quote::None)?,
                b'`' => self.backticks(word, Quote::None)?,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'/' => {
                    self.plain_run(word, |byte| {
                        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/')
                    });
                }
                _ => {
                    bracket |= byte == b'[';
                    word.pattern |= matches!(byte, b'*' | b'?')
                        || (bracket && byte == b']')
                        || (byte == b'~' && self.tilde_expands(start))
                        || braces.see(byte, self.at);
                    self.plain_character(word.text())?;
                }
            }
        }
        word.end = self.at;
        if !self.pending.is_empty()
            && self
                .text
                .get(start..self.at)
                .unwrap_or_default()
                .contains(&b'\n')
        {
            return Err(self.syntax("a here-document that begins within a word"));
        }
        Ok(())
    }

    /// `~` at the start of a word, or behind `=` or `:`.
    fn tilde_expands(&self, start: usize) -> bool {
        self.at == start || matches!(self.text.get(self.at - 1), Some(b'=' | b':'))
    }

    /// `?(`, `*(`, `+(`, `@(`, `!(`
    fn after_extglob(&self, start: usize) -> bool {
        self.at > start
            && matches!(
                self.text.get(self.at - 1),
                Some(b'?' | b'*' | b'+' | b'@' | b'!')
            )
    }

    /// A parenthesis within a pattern or regular expression, to behind its partner.
    fn pattern_group(&mut self, word: &mut Lexeme) -> Walk {
        self.at += 1;
        let mut open = 1_usize;
        while open > 0 {
            match self.peek() {
                None => return Err(self.syntax("a pattern that is not closed")),
                Some(b'\'') => self.single_quoted(word)?,
                Some(b'"') => self.double_quoted(word)?,
                Some(b'\\') => self.backslash(word)?,
                Some(b'$') => self.dollar(word, Quote::None)?,
                Some(b'`') => self.backticks(word, Quote::None)?,
                Some(b'<' | b'>') if self.peek_at(1) == Some(b'(') => {
                    return Err(self.syntax("a process substitution in a pattern"));
                }
                Some(byte) => {
                    open += usize::from(byte == b'(');
                    open -= usize::from(byte == b')');
                    word.text().push(byte);
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    /// Whether `NAME=`, `NAME+=` or `NAME[` stands here.
    pub(crate) fn at_assignment(&self) -> bool {
        if !self.peek().is_some_and(is_identifier_start) {
            return false;
        }
        let length = self.identifier_length(self.at);
        match self.peek_at(length) {
            Some(b'=' | b'[') => true,
            Some(b'+') => self.peek_at(length + 1) == Some(b'='),
            _ => false,
        }
    }

    /// Reads what [`at_assignment`](Self::at_assignment) has seen.
    pub(crate) fn assignment(&mut self) -> Walk<Assigned> {
        let start = self.at;
        let name = self.identifier(start);
        self.at += name.len();
        let has_subscript = self.peek() == Some(b'[');
        if has_subscript {
            self.subscript(&name)?;
            let span = self.span(start, self.at);
            self.found.values.has_elements(&name, span);
        }
        let appends = self.peek() == Some(b'+') && self.peek_at(1) == Some(b'=');
        if !appends && self.peek() != Some(b'=') {
            return Err(self.syntax("a subscript that is no assignment"));
        }
        if appends {
            self.bash_only("+= in a POSIX shell")?;
        }
        self.at += 1 + usize::from(appends);
        let mut value = Lexeme {
            start: self.at,
            ..Lexeme::default()
        };
        if self.peek() == Some(b'(') {
            if has_subscript {
                return Err(self.syntax("a list assigned to an element"));
            }
            self.array(&name)?;
            let span = self.span(start, self.at);
            self.found.values.has_elements(&name, span);
            if self
                .peek()
                .is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')'))
            {
                return Err(self.syntax("a word that goes on behind an array"));
            }
            return Ok(Assigned {
                name,
                value: None,
                whole: !appends,
                start,
            });
        }
        self.word_into(&mut value, WordMode::Plain)?;
        let span = self.span(start, self.at);
        if appends {
            self.found.values.append(&name, &value, span);
        } else {
            self.found.values.assign(&name, &value, span);
        }
        Ok(Assigned {
            name,
            value: (!appends && !has_subscript).then_some(value),
            whole: !appends && !has_subscript,
            start,
        })
    }

    /// `(…)` of an array assignment.
    fn array(&mut self, name: &str) -> Walk {
        self.bash_only("an array in a POSIX shell")?;
        let start = self.at;
        self.at += 1;
        self.deeper(|this| {
            loop {
                this.blanks_and_comment();
                match this.peek() {
                    Some(b')') => break,
                    Some(b'\n') => {
                        this.at += 1;
                        continue;
                    }
                    _ => {}
                }
                let mut element = Lexeme {
                    start: this.at,
                    ..Lexeme::default()
                };
                if this.peek() == Some(b'[') {
                    this.subscript(name)?;
                    this.at += usize::from(this.peek() == Some(b'+'));
                    if this.peek() != Some(b'=') {
                        return Err(this.syntax("an element with an unusual subscript"));
                    }
                    this.at += 1;
                } else if !this
                    .peek()
                    .is_some_and(|b| !matches!(b, b'(' | b';' | b'&' | b'|'))
                {
                    return Err(this.syntax("an array that is not closed"));
                }
                let before = element.start;
                this.word_into(&mut element, WordMode::Plain)?;
                if this.at == before {
                    return Err(this.syntax("an operator within an array"));
                }
                let span = this.span(before, this.at);
                this.found.values.assign(name, &element, span);
            }
            this.at += 1;
            Ok(())
        })?;
        let span = self.span(start, self.at);
        self.found.values.assign_integer(name, span);
        if !self.pending.is_empty()
            && self
                .text
                .get(start..self.at)
                .unwrap_or_default()
                .contains(&b'\n')
        {
            return Err(self.syntax("a here-document that begins within an array"));
        }
        Ok(())
    }

    /// The body of a here-document.
    pub(super) fn body_text(&mut self) -> Walk {
        let context = self.context.within(Place::HereDocument);
        self.within(context, |this| {
            let mut ignored = Lexeme::default();
            while this.peek().is_some() {
                this.quoted_run(&mut ignored, Quote::Body)?;
                // Only the expansions matter; a long body is not to be kept.
                if matches!(ignored.pieces.last(), Some(Piece::Text(text)) if text.len() > 4096) {
                    ignored.pieces.clear();
                }
            }
            Ok(())
        })
    }
}

//! Expansions that begin with `$`, backticks and process substitution.

use super::{Lexeme, Origin, Parser, Piece, Quote, Region, Walk};
use crate::context::Place;
use crate::opaque::Reason;
use crate::variable::{
    affects_shell, is_identifier_byte, is_identifier_start, is_locale, is_plain_locale,
};

impl Parser<'_, '_> {
    /// Whatever a dollar sign begins.
    pub(super) fn dollar(&mut self, word: &mut Lexeme, quote: Quote) -> Walk {
        let unquoted = quote == Quote::None;
        match self.peek_at(1) {
            Some(b'(') => {
                let is_arithmetic = self.peek_at(2) == Some(b'(');
                self.entered.push(self.at);
                if is_arithmetic {
                    self.at += 3;
                    self.arithmetic_parentheses()?;
                    word.expansion(Piece::Integer, unquoted);
                } else {
                    self.at += 2;
                    self.substitution(Place::Substitution)?;
                    word.expansion(Piece::Unknown, unquoted);
                }
                Ok(())
            }
            Some(b'[') => {
                self.bash_only("$[…] in a POSIX shell")?;
                self.at += 2;
                self.arithmetic_brackets()?;
                word.expansion(Piece::Integer, unquoted);
                Ok(())
            }
            Some(b'{') => self.parameter(word, quote),
            Some(b'\'') if unquoted => self.ansi_quoted(word),
            Some(b'"') if unquoted => {
                // A translation, which is text of somebody else's, takes its place.
                self.note(Reason::Code("$\"…\"".to_owned()), self.at);
                self.at += 1;
                self.double_quoted(word)?;
                word.expansion(Piece::Unknown, false);
                Ok(())
            }
            Some(b'\\') if self.peek_at(2) == Some(b'\n') => {
                Err(self.syntax("a line continuation behind a dollar sign"))
            }
            Some(byte) if is_identifier_start(byte) => {
                let name = self.identifier(self.at + 1);
                self.at += 1 + name.len();
                word.expansion(Piece::Variable(name), unquoted);
                Ok(())
            }
            Some(byte) => {
                self.special(byte, word, unquoted);
                Ok(())
            }
            None => {
                self.literal_dollar(word);
                Ok(())
            }
        }
    }

    /// `$1`, `$@`, `$?` …, or a dollar sign that begins nothing.
    fn special(&mut self, byte: u8, word: &mut Lexeme, unquoted: bool) {
        match byte {
            b'0'..=b'9' | b'-' | b'*' => word.expansion(Piece::Unknown, unquoted),
            b'@' => word.expansion(Piece::Unknown, true),
            b'#' | b'?' | b'$' | b'!' => word.expansion(Piece::Integer, unquoted),
            _ => return self.literal_dollar(word),
        }
        self.at += 2;
    }

    fn literal_dollar(&mut self, word: &mut Lexeme) {
        word.text().push(b'$');
        self.at += 1;
    }

    /// The identifier at an offset, maybe empty.
    pub(crate) fn identifier(&self, start: usize) -> String {
        let rest = self.text.get(start..).unwrap_or_default();
        let length = match rest.first() {
            Some(byte) if is_identifier_start(*byte) => rest
                .iter()
                .position(|b| !is_identifier_byte(*b))
                .unwrap_or(rest.len()),
            _ => 0,
        };
        String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned()
    }

    /// The commands of `$(…)` or `<(…)`, from behind the parenthesis to behind its partner.
    pub(super) fn substitution(&mut self, place: Place) -> Walk {
        let context = self.context.within(place);
        let outer_pending = std::mem::take(&mut self.pending);
        let outer_in = std::mem::replace(&mut self.in_substitution, true);
        let outer_operand = std::mem::replace(&mut self.in_operand, false);
        self.deeper(|this| {
            this.within(context, |this| {
                this.list()?;
                if this.peek() != Some(b')') {
                    return Err(this.syntax("a substitution that is not closed"));
                }
                if !this.pending.is_empty() {
                    return Err(this.syntax("a here-document without body in a substitution"));
                }
                this.at += 1;
                Ok(())
            })
        })?;
        self.pending = outer_pending;
        self.in_substitution = outer_in;
        self.in_operand = outer_operand;
        Ok(())
    }

    /// `<(…)` or `>(…)`, from its first character.
    pub(super) fn process_substitution(&mut self, word: &mut Lexeme) -> Walk {
        self.bash_only("a process substitution in a POSIX shell")?;
        self.entered.push(self.at);
        self.at += 2;
        let start = self.at;
        self.substitution(Place::ProcessSubstitution)?;
        let inner = self.text.get(start..self.at - 1).unwrap_or_default();
        if inner.trim_ascii().is_empty() {
            // The word vanishes.
            return Err(self.syntax("an empty process substitution"));
        }
        word.expansion(Piece::Unknown, false);
        Ok(())
    }

    /// `` `…` ``, from the opening one. The shell first finds the end, looking at nothing but
    /// backslashes, then removes these, then reads the result.
    pub(super) fn backticks(&mut self, word: &mut Lexeme, quote: Quote) -> Walk {
        self.entered.push(self.at);
        let start = self.at + 1;
        let mut text = Vec::new();
        let mut changed = false;
        self.at = start;
        loop {
            match (self.peek(), self.peek_at(1)) {
                (None, _) => {
                    self.at = start;
                    return Err(self.syntax("a backtick that is not closed"));
                }
                (Some(b'`'), _) => break,
                (Some(b'\\'), Some(byte)) => {
                    let removed = matches!(byte, b'`' | b'$' | b'\\')
                        || (byte == b'"' && quote == Quote::Double);
                    changed |= removed;
                    if !removed {
                        text.push(b'\\');
                    }
                    text.push(byte);
                    self.at += 2;
                }
                (Some(byte), _) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        if self.in_operand && raw.contains(&b'\\') {
            return Err(self.syntax("a backslash in backticks within another expansion"));
        }
        self.at += 1;
        let origin = if changed {
            Origin::Fixed(self.span(start, self.at - 1))
        } else {
            self.origin_at(start)
        };
        let context = self.context.within(Place::Substitution);
        if !text.is_empty() {
            let dialect = self.dialect;
            self.inner_region(&text, origin, Region::Code, context, dialect)?;
        }
        word.expansion(Piece::Unknown, quote == Quote::None);
        Ok(())
    }

    /// Notes a variable that is set by an expansion or a command.
    pub(crate) fn variable_is_set(&mut self, name: &str, value: Option<&str>, start: usize) {
        let span = self.span(start, self.at.max(start));
        let context = self.context.clone();
        self.found.assigned(name, &context, span);
        let strange_locale = is_locale(name) && !value.is_some_and(is_plain_locale);
        if affects_shell(name) || strange_locale {
            self.note(Reason::Variable(name.to_owned()), start);
        }
    }
}

//! Expansions that begin with `$`, backticks and process substitution.

use super::{Lexeme, Origin, Parser, Piece, Quote, Region, Walk};
use crate::context::Place;
use crate::order::BlockKind;
use crate::value::{Kind, Value, positional_in};
use crate::variable::{is_identifier_byte, is_identifier_start};

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
                    let piece = self.printed();
                    word.expansion(piece, unquoted);
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
                // A translation takes its place. Catalogues are the system's, unless the script sets
                // where they are.
                self.bash_only("$\"…\" in a POSIX shell")?;
                self.at += 1;
                let mut original = Lexeme::default();
                self.double_quoted(&mut original)?;
                word.quoted = true;
                let value = Value {
                    kind: Kind::Unknown,
                    ..Value::of(&original)
                };
                word.expansion(Piece::Derived(Box::new(value)), original.splits);
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
            b'0'..=b'9' | b'-' | b'*' | b'@' | b'#' | b'?' | b'$' | b'!' => {
                let piece = self.special_parameter(byte);
                word.expansion(piece, unquoted || byte == b'@');
            }
            _ => return self.literal_dollar(word),
        }
        self.at += 2;
    }

    /// What is known about a parameter that is no variable (bash(1) "Special Parameters").
    pub(super) fn special_parameter(&self, name: u8) -> Piece {
        match (name, positional_in(&self.context)) {
            (b'#' | b'?' | b'$' | b'!', _) => Piece::Integer,
            // Letters, and the name of the shell or the script.
            (b'-', _) | (b'0', Some(_)) => Piece::Derived(Box::new(Value::of_kind(Kind::Plain))),
            (_, Some(name)) => Piece::Variable(name),
            (_, None) => Piece::Unknown,
        }
    }

    fn literal_dollar(&mut self, word: &mut Lexeme) {
        word.text().push(b'$');
        self.at += 1;
    }

    /// The identifier at an offset, maybe empty.
    pub(crate) fn identifier(&self, start: usize) -> String {
        let rest = self.text.get(start..).unwrap_or_default();
        let name = rest.get(..self.identifier_length(start));
        String::from_utf8_lossy(name.unwrap_or_default()).into_owned()
    }

    /// Its length, maybe 0.
    pub(crate) fn identifier_length(&self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        match rest.first() {
            Some(byte) if is_identifier_start(*byte) => rest
                .iter()
                .position(|b| !is_identifier_byte(*b))
                .unwrap_or(rest.len()),
            _ => 0,
        }
    }

    /// The commands of `$(…)` or `<(…)`, from behind the parenthesis to behind its partner.
    pub(super) fn substitution(&mut self, place: Place) -> Walk {
        let context = self.context.within(place);
        let outer_pending = std::mem::take(&mut self.pending);
        let outer_in = std::mem::replace(&mut self.in_substitution, true);
        let outer_operand = std::mem::replace(&mut self.in_operand, false);
        self.deeper(|this| {
            this.within(context, |this| {
                this.block(Self::lines)?;
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
        self.output = None;
        if !text.is_empty() {
            let dialect = self.dialect;
            self.inner_region(&text, origin, Region::Code, context, dialect)?;
            let span = self.span(start, self.at);
            self.found.block(span, BlockKind::Part);
        }
        let piece = self.printed();
        word.expansion(piece, quote == Quote::None);
        Ok(())
    }

    /// The output of the substitution that was read last.
    fn printed(&mut self) -> Piece {
        self.output
            .take()
            .map_or(Piece::Unknown, |value| Piece::Derived(Box::new(value)))
    }

    /// Notes a variable that is set by an expansion or a command.
    pub(crate) fn variable_is_set(&mut self, name: &str, value: Option<&Lexeme>, start: usize) {
        let span = self.span(start, self.at.max(start));
        let context = self.context.clone();
        self.found.assigned(name, &context, span);
        self.found.setting(name, value, span);
    }
}

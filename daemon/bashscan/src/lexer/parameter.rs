//! Parameter expansion: `${…}`.

use super::{Lexeme, Parser, Piece, Quote, Walk};
use crate::opaque::Reason;
use crate::value::Value;
use crate::variable::is_identifier_start;

/// What is expanded.
#[derive(Default)]
struct Parameter {
    name: String,
    /// What is known about its value.
    piece: Piece,
    subscript: bool,
    /// `${!name…}`
    indirect: bool,
    /// `"${name[@]}"` and the like: any number of words.
    many: bool,
    start: usize,
}

impl Parameter {
    /// Its value, if that can be told.
    fn value(&self) -> Value {
        Value::of(&Lexeme {
            pieces: std::iter::once(if self.indirect {
                Piece::Unknown
            } else {
                self.piece.clone()
            })
            .collect(),
            ..Lexeme::default()
        })
    }

    /// The value or the operand, by the operator's last character.
    fn or(&self, operator: Option<u8>, operand: &Lexeme) -> Piece {
        let mut value = self.value();
        match operator {
            Some(b'?') => {}
            Some(b'+') => value = Value::of(operand),
            _ => value.or(&Value::of(operand)),
        }
        Piece::Derived(Box::new(value))
    }

    /// A part of the value, with something put in: what it begins with is not known.
    fn part(&self, added: Option<&Lexeme>) -> Piece {
        let mut value = self.value();
        if let Some(added) = added {
            value.or(&Value::of(added));
        }
        (value.dash, value.inner_dash, value.leads) = (true, true, false);
        Piece::Derived(Box::new(value))
    }
}

impl Parser<'_, '_> {
    /// `${…}`, from its dollar sign.
    pub(super) fn parameter(&mut self, word: &mut Lexeme, quote: Quote) -> Walk {
        let start = self.at;
        self.at += 2;
        self.operand_of(|this| {
            if this.number_of(word, quote)? {
                return Ok(());
            }
            let indirect = this.peek() == Some(b'!') && this.peek_at(1) != Some(b'}');
            if indirect {
                this.at += 1;
            }
            let mut parameter = Parameter {
                indirect,
                start,
                ..Parameter::default()
            };
            this.parameter_name(&mut parameter)?;
            this.parameter_operation(parameter, word, quote)
        })
    }

    /// `${#…}`: true if it was one, and is read.
    fn number_of(&mut self, word: &mut Lexeme, quote: Quote) -> Walk<bool> {
        if self.peek() != Some(b'#') {
            return Ok(false);
        }
        let is_special = |b: u8| matches!(b, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!');
        match self.peek_at(1) {
            Some(b'}') => self.at += 2,
            Some(byte) if is_special(byte) && self.peek_at(2) == Some(b'}') => self.at += 3,
            Some(byte) if is_identifier_start(byte) || byte.is_ascii_digit() => {
                self.at += 1;
                let mut parameter = Parameter {
                    start: self.at,
                    ..Parameter::default()
                };
                self.parameter_name(&mut parameter)?;
                if self.peek() != Some(b'}') {
                    return Err(self.syntax("an unusual ${#…}"));
                }
                self.at += 1;
            }
            _ => return Ok(false),
        }
        word.expansion(Piece::Integer, quote == Quote::None);
        Ok(true)
    }

    /// The name and its subscript.
    fn parameter_name(&mut self, parameter: &mut Parameter) -> Walk {
        match self.peek() {
            Some(byte) if is_identifier_start(byte) => {
                parameter.name = self.identifier(self.at);
                parameter.piece = Piece::Variable(parameter.name.clone());
                self.at += parameter.name.len();
            }
            Some(byte @ b'0'..=b'9') => {
                let is_long = self.peek_at(1).is_some_and(|b| b.is_ascii_digit());
                parameter.piece = self.special_parameter(if is_long { b'1' } else { byte });
                while self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                parameter.many = byte == b'@';
                parameter.piece = self.special_parameter(byte);
                self.at += 1;
            }
            _ => return Err(self.syntax("an unusual ${…}")),
        }
        if self.peek() == Some(b'[') {
            if parameter.name.is_empty() {
                return Err(self.syntax("a subscript behind no name"));
            }
            parameter.subscript = true;
            let name = parameter.name.clone();
            let subscript = self.subscript(&name)?;
            // Any of the elements, or none.
            parameter.piece = Piece::Derived(Box::new(Value::of_name(name)));
            parameter.many |= subscript.as_deref() == Some("@");
            if parameter.indirect && !matches!(subscript.as_deref(), Some("@" | "*")) {
                self.note(Reason::DynamicVariable("${!…}".to_owned()), parameter.start);
            }
        }
        Ok(())
    }

    /// What follows the name, up to behind the closing brace.
    fn parameter_operation(
        &mut self,
        parameter: Parameter,
        word: &mut Lexeme,
        quote: Quote,
    ) -> Walk {
        let unquoted = quote == Quote::None;
        let splits = unquoted || parameter.many;
        let operator = (self.peek(), self.peek_at(1), self.peek_at(2));
        self.found.risks += usize::from(parameter.indirect || operator.0 != Some(b'}'));
        if parameter.indirect && !parameter.subscript {
            if let (Some(b'@' | b'*'), Some(b'}'), _) = operator {
                self.at += 2;
                word.expansion(Piece::Unknown, true);
                return Ok(());
            }
            // The value of the variable is taken for a name, with a subscript maybe.
            self.note(Reason::DynamicVariable("${!…}".to_owned()), parameter.start);
        }
        match operator {
            (Some(b'}'), _, _) => {
                self.at += 1;
                let piece = if parameter.indirect {
                    Piece::Unknown
                } else {
                    parameter.piece
                };
                word.expansion(piece, splits);
                return Ok(());
            }
            (Some(b':'), Some(b'-' | b'+' | b'?' | b'='), _) => {
                self.at += 1;
                return self.default_value(&parameter, word, quote);
            }
            (Some(b'-' | b'+' | b'?' | b'='), _, _) => {
                return self.default_value(&parameter, word, quote);
            }
            (Some(b':'), _, _) => {
                self.at += 1;
                self.arithmetic_until_brace()?;
                word.expansion(parameter.part(None), splits);
                return Ok(());
            }
            (Some(byte @ (b'#' | b'%' | b'/' | b'^' | b',' | b'~')), _, _) => {
                self.at += 1;
                let mut operand = Lexeme::default();
                self.operand(&mut operand, quote, true)?;
                // Only a replacement puts in something new.
                let added = (byte == b'/').then_some(&operand);
                word.expansion(parameter.part(added), splits);
                return Ok(());
            }
            (
                Some(b'@'),
                Some(b'Q' | b'E' | b'A' | b'a' | b'K' | b'k' | b'U' | b'u' | b'L'),
                Some(b'}'),
            ) => {
                self.at += 3;
            }
            (Some(b'@'), Some(b'P'), Some(b'}')) => {
                self.note(Reason::Code("${…@P}".to_owned()), parameter.start);
                self.at += 3;
            }
            _ => return Err(self.syntax("an unusual ${…}")),
        }
        word.expansion(Piece::Unknown, splits);
        Ok(())
    }

    /// `${name:-word}` and its kin, from the operator's last character.
    fn default_value(&mut self, parameter: &Parameter, word: &mut Lexeme, quote: Quote) -> Walk {
        let operator = self.peek();
        let assigns = operator == Some(b'=');
        self.at += 1;
        let mut operand = Lexeme::default();
        self.operand(&mut operand, quote, false)?;
        let span = self.span(parameter.start, self.at);
        if assigns {
            if parameter.name.is_empty() {
                self.note(
                    Reason::DynamicVariable("${…=…}".to_owned()),
                    parameter.start,
                );
            }
            self.variable_is_set(&parameter.name, Some(&operand), parameter.start);
            self.found.values.assign(&parameter.name, &operand, span);
        }
        let splits = quote == Quote::None || parameter.many || operand.splits;
        word.expansion(parameter.or(operator, &operand), splits);
        Ok(())
    }

    /// The text of an operand, to behind the closing brace.
    fn operand(&mut self, operand: &mut Lexeme, quote: Quote, is_pattern: bool) -> Walk {
        loop {
            match self.peek() {
                None => return Err(self.syntax("a ${ that is not closed")),
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\'') if quote == Quote::None => self.single_quoted(operand)?,
                Some(b'\'') => self.doubtful_quote(operand)?,
                Some(b'"') => self.inner_double_quote(operand, quote)?,
                Some(b'$')
                    if self.peek_at(1) == Some(b'\'') && quote != Quote::None && is_pattern =>
                {
                    self.doubtful_ansi_quote(operand)?;
                }
                Some(b'$') if self.peek_at(1) == Some(b'\'') && quote != Quote::None => {
                    return Err(self.syntax("a $' quote within double quotes"));
                }
                Some(b'<' | b'>') if self.peek_at(1) == Some(b'(') => {
                    return Err(self.syntax("a process substitution within ${…}"));
                }
                Some(b'\\') if quote == Quote::None => self.backslash_any(operand),
                Some(b'\\') if self.peek_at(1) == Some(b'}') || is_pattern => {
                    self.backslash_any(operand);
                }
                Some(b'$') => self.dollar(operand, quote)?,
                Some(_) => self.quoted_part(operand, quote)?,
            }
        }
    }

    /// A single quote within `"${…}"`: whether it quotes depends on the operator, the version and
    /// posix mode. Only a pair around harmless characters means the same in all.
    fn doubtful_quote(&mut self, operand: &mut Lexeme) -> Walk {
        let start = self.at + 1;
        self.single_quoted(operand)?;
        let quoted = self.text.get(start..self.at - 1).unwrap_or_default();
        if quoted
            .iter()
            .any(|b| matches!(b, b'$' | b'`' | b'}' | b'{' | b'"' | b'\\' | b'\n'))
        {
            return Err(self.syntax("a single quote within \"${…}\""));
        }
        Ok(())
    }

    /// A double quote within `${…}`. If quotes surround that already, backslashes in it are removed
    /// once more before the expansions in it are read.
    fn inner_double_quote(&mut self, operand: &mut Lexeme, quote: Quote) -> Walk {
        let start = self.at;
        self.double_quoted(operand)?;
        let raw = self.text.get(start..self.at).unwrap_or_default();
        if quote != Quote::None && raw.contains(&b'\\') {
            return Err(self.syntax("a backslash in quotes within \"${…}\""));
        }
        Ok(())
    }

    /// `$'…'` within `"${x%…}"`: bash takes it for a quote. Only simple ones are the same when it
    /// is not.
    fn doubtful_ansi_quote(&mut self, operand: &mut Lexeme) -> Walk {
        let start = self.at + 2;
        self.ansi_quoted(operand)?;
        let quoted = self.text.get(start..self.at - 1).unwrap_or_default();
        let mut escaped = false;
        for byte in quoted {
            let strange = if escaped {
                !byte.is_ascii_alphanumeric()
            } else {
                matches!(byte, b'$' | b'`' | b'}' | b'{' | b'"' | b'\n')
            };
            if strange {
                return Err(self.syntax("a $' quote within \"${…}\""));
            }
            escaped = !escaped && *byte == b'\\';
        }
        Ok(())
    }

    /// A backslash and whatever follows it.
    pub(super) fn backslash_any(&mut self, word: &mut Lexeme) {
        if let Some(byte) = self.peek_at(1)
            && byte != b'\n'
        {
            word.text().push(byte);
        }
        self.at = (self.at + 2).min(self.text.len());
    }
}

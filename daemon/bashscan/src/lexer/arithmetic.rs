//! Arithmetic: `$((…))`, `((…))`, `$[…]`, subscripts, `${x:…}`.
//!
//! The text is expanded like a double-quoted word and then evaluated. A variable in it is evaluated
//! too, and a subscript in *its* value may hold a command substitution, so every variable that is
//! used is handed to [`Values`](crate::value::Values).

use crate::order::Site;

use super::{Lexeme, Parser, Quote, Walk};

/// What ends the expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// `))`
    Parentheses,
    /// `]`
    Bracket,
    /// `}`
    Brace,
    /// `;` in `for ((…;…;…))`
    Semicolon,
}

impl Parser<'_, '_> {
    /// From behind `((` to behind `))`.
    pub(crate) fn arithmetic_parentheses(&mut self) -> Walk {
        self.evaluated(End::Parentheses)
    }

    /// From behind `[` to behind `]`.
    pub(super) fn arithmetic_brackets(&mut self) -> Walk {
        self.evaluated(End::Bracket)
    }

    /// From behind `${x:` to behind `}`.
    pub(super) fn arithmetic_until_brace(&mut self) -> Walk {
        self.evaluated(End::Brace)
    }

    /// From behind the `((` of a `for` to behind its `))`.
    pub(crate) fn arithmetic_for(&mut self) -> Walk {
        let start = self.at;
        self.evaluated(End::Semicolon)?;
        self.assigned_first(start);
        self.evaluated(End::Semicolon)?;
        self.evaluated(End::Parentheses)
    }

    /// `i = 0` and the like assign whenever they are evaluated.
    pub(crate) fn assigned_first(&mut self, start: usize) {
        let text = self.text.get(start..self.at).unwrap_or_default();
        let blanks = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let name = self.identifier(start + blanks);
        let behind = text.get(blanks + name.len()..).unwrap_or_default();
        let value = behind.trim_ascii_start().strip_prefix(b"=");
        // Any other expression may fail, and the script goes on.
        let is_number = value.is_some_and(|value| {
            let value = value.trim_ascii();
            let digits = value.iter().take_while(|b| b.is_ascii_digit()).count();
            let rest = value.get(digits..).unwrap_or_default().trim_ascii_start();
            digits > 0 && matches!(rest.first(), None | Some(b';' | b')' | b','))
        });
        if !name.is_empty() && is_number {
            let site = Site {
                span: self.span(start, self.at),
                is_firm: false,
            };
            self.found.assigned_for_certain(&name, &self.context, site);
        }
    }

    /// A subscript, from its `[` to behind its `]`. The text, if it is constant.
    pub(crate) fn subscript(&mut self, name: &str) -> Walk<Option<String>> {
        self.bash_only("a subscript in a POSIX shell")?;
        let start = self.at;
        self.at += 1;
        self.found.risks += 1;
        let mut text = Lexeme::default();
        self.operand_of(|this| this.subscript_text(&mut text))?;
        let constant = text.constant();
        if constant
            .as_deref()
            .is_some_and(|text| text.trim().is_empty())
        {
            return Err(self.syntax("an empty subscript"));
        }
        if !matches!(constant.as_deref(), Some("@" | "*")) {
            let span = self.span(start, self.at);
            self.found
                .values
                .subscript(name, &text, &self.context, span);
        }
        Ok(constant)
    }

    fn subscript_text(&mut self, text: &mut Lexeme) -> Walk {
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None | Some(b'\n') => return Err(self.syntax("a subscript that is not closed")),
                Some(b']') if open == 0 => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'<' | b'>') if self.peek_at(1) == Some(b'(') => {
                    return Err(self.syntax("a process substitution within a subscript"));
                }
                Some(b'\'') => self.single_quoted(text)?,
                Some(b'"') => self.double_quoted(text)?,
                Some(b'\\') if !self.at_continuation() => self.backslash_any(text),
                Some(b'$') if self.peek_at(1) == Some(b'\'') => {
                    return Err(self.syntax("a $' quote within a subscript"));
                }
                Some(byte) => {
                    open += usize::from(byte == b'[');
                    open -= usize::from(byte == b']');
                    self.quoted_part(text, Quote::Double)?;
                }
            }
        }
    }

    fn evaluated(&mut self, end: End) -> Walk {
        let start = self.at;
        let mut text = Lexeme::default();
        self.found.risks += 1;
        self.operand_of(|this| this.expression(end, &mut text))?;
        let span = self.span(start, self.at);
        self.found.values.evaluate(&text, &self.context, span);
        if self
            .text
            .get(start..self.at)
            .unwrap_or_default()
            .contains(&b'\n')
            && !self.pending.is_empty()
        {
            return Err(self.syntax("a here-document that begins within arithmetic"));
        }
        Ok(())
    }

    fn expression(&mut self, end: End, text: &mut Lexeme) -> Walk {
        // Open parentheses and brackets; only a closer at the outermost level ends the expression.
        let (mut round, mut square) = (0_usize, 0_usize);
        loop {
            match self.peek() {
                None => return Err(self.syntax("arithmetic that is not closed")),
                Some(b')') if round == 0 && end == End::Parentheses => {
                    if self.peek_at(1) != Some(b')') {
                        return Err(self.syntax("(( that is not arithmetic"));
                    }
                    self.at += 2;
                    return Ok(());
                }
                Some(b')') if round == 0 => return Err(self.syntax("an unbalanced parenthesis")),
                Some(b']') if square == 0 && end == End::Bracket => break,
                Some(b'}') if end == End::Brace => break,
                Some(b';') if round == 0 && end == End::Semicolon => break,
                Some(b'\'') => return Err(self.syntax("a single quote within arithmetic")),
                Some(b'\\') if !self.at_continuation() => {
                    return Err(self.syntax("a backslash within arithmetic"));
                }
                Some(b'<' | b'>') if self.peek_at(1) == Some(b'(') => {
                    return Err(self.syntax("<( within arithmetic"));
                }
                Some(b'"') => self.double_quoted(text)?,
                Some(byte) => {
                    match byte {
                        b'(' => round += 1,
                        b')' => round -= 1,
                        b'[' => square += 1,
                        b']' => square = square.saturating_sub(1),
                        _ => {}
                    }
                    self.quoted_part(text, Quote::Double)?;
                }
            }
        }
        self.at += 1;
        Ok(())
    }
}

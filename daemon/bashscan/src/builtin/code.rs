//! `eval`, `source`, `trap`: builtins that are given code.

use super::{Argument, span_of};
use crate::lexer::{Origin, Parser, Region, Walk};
use crate::opaque::Reason;
use crate::scan::{Dialect, Source};
use crate::word::Span;

impl Parser<'_, '_> {
    /// Reads a text that a command gets to run.
    pub(crate) fn code(&mut self, name: &str, text: &str, dialect: Dialect, span: Span) -> Walk {
        if text
            .chars()
            .any(|c| matches!(c, '\0' | '\r' | '\x01' | '\x7f'))
        {
            self.found.opaque(Reason::Code(name.to_owned()), span);
            return Ok(());
        }
        let context = self.context.in_code(name);
        self.inner_region(
            text.as_bytes(),
            Origin::Fixed(span),
            Region::Code,
            context,
            dialect,
        )
    }

    /// The same for a text that is known or not.
    pub(crate) fn code_or_opaque(
        &mut self,
        name: &str,
        text: Option<&str>,
        dialect: Dialect,
        span: Span,
    ) -> Walk {
        if let Some(text) = text {
            return self.code(name, text, dialect, span);
        }
        self.found.opaque(Reason::Code(name.to_owned()), span);
        Ok(())
    }

    pub(super) fn eval(&mut self, operands: &[Argument], span: Span) -> Walk {
        let operands = match operands.first().and_then(Argument::literal) {
            Some("--") => operands.get(1..).unwrap_or_default(),
            _ => operands,
        };
        let words: Option<Vec<&str>> = operands.iter().map(Argument::literal).collect();
        let text = words.map(|words| words.join(" "));
        self.code_or_opaque("eval", text.as_deref(), self.dialect, span)
    }

    pub(super) fn source(&mut self, name: &str, operands: &[Argument], span: Span) {
        let operands = match operands.first().and_then(Argument::literal) {
            Some("--") => operands.get(1..).unwrap_or_default(),
            _ => operands,
        };
        match operands.first().map(Argument::literal) {
            Some(Some(path)) if !path.starts_with('-') => {
                self.found.sources.push(Source {
                    path: path.to_owned(),
                    span,
                });
            }
            None => {}
            _ => self.found.opaque(Reason::Code(name.to_owned()), span),
        }
    }

    pub(super) fn trap(&mut self, operands: &[Argument], span: Span) -> Walk {
        let mut operands = operands;
        if operands.iter().any(|operand| !operand.word.is_one_word()) {
            self.found.opaque(Reason::Code("trap".to_owned()), span);
            return Ok(());
        }
        match operands.first().and_then(Argument::literal) {
            Some("-l" | "-p" | "-P") => return Ok(()),
            Some("--") => operands = operands.get(1..).unwrap_or_default(),
            _ => {}
        }
        let Some((action, [_, ..])) = operands.split_first() else {
            return Ok(());
        };
        match action.literal() {
            // Reset, ignored, or a signal's number: then all operands are signals.
            Some("-" | "") => Ok(()),
            Some(text) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(()),
            Some(text) => {
                let span = span_of(std::slice::from_ref(action));
                self.code("trap", text, self.dialect, span)
            }
            None => {
                self.found.opaque(Reason::Code("trap".to_owned()), span);
                Ok(())
            }
        }
    }
}

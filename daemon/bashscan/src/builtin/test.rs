//! `test` and `[`.

use super::{Argument, span_of};
use crate::lexer::Parser;
use crate::opaque::Reason;
use crate::value::Need;
use crate::variable::{is_identifier_start, is_plain_reference};
use crate::word::WordKind;

/// Most operands that are looked at: each is compared with those behind it.
const MAX_OPERANDS: usize = 64;

fn reason() -> Reason {
    Reason::DynamicVariable("test".to_owned())
}

impl Parser<'_, '_> {
    /// `-v NAME` and `-R NAME` evaluate a subscript in the name. Neither may come from data: not
    /// the operator, and not words that an unquoted expansion becomes.
    pub(super) fn test(&mut self, operands: &[Argument]) {
        if operands.len() > MAX_OPERANDS {
            self.found.opaque(Reason::TooLong, span_of(operands));
            return;
        }
        for (at, operand) in operands.iter().enumerate() {
            let span = operand.word.span;
            let behind = operands.get(at + 1..).unwrap_or_default();
            match &operand.word.kind {
                WordKind::Literal(text) => {
                    if matches!(text.as_str(), "-v" | "-R") {
                        self.names(operand, behind);
                    }
                }
                WordKind::Glob { .. } => {
                    if operand.word.may_be_option() {
                        self.found.opaque(reason(), span);
                    }
                }
                WordKind::Dynamic { one_word, .. } => {
                    if !one_word {
                        let values = &mut self.found.values;
                        values.require(&operand.lexeme(), Need::Plain, reason(), span);
                    }
                    if !one_word || operand.word.may_be_option() {
                        self.names(operand, behind);
                    }
                }
            }
        }
    }

    /// What follows an operand that may be such an operator: the next word, and those behind it as
    /// long as the ones before may vanish.
    fn names(&mut self, operator: &Argument, behind: &[Argument]) {
        for name in behind {
            let span = operator.word.span;
            match &name.word.kind {
                WordKind::Literal(text) if text.contains('[') && !is_plain_reference(text) => {
                    self.found.opaque(reason(), span);
                }
                WordKind::Literal(_) => {}
                WordKind::Glob { text } => {
                    let begins_name = |byte: &u8| is_identifier_start(*byte);
                    let prefix = name.word.prefix().as_bytes().first();
                    if text.starts_with(['*', '?', '[', '{', '~', '('])
                        || prefix.is_some_and(begins_name)
                    {
                        self.found.opaque(reason(), span);
                    }
                }
                WordKind::Dynamic { .. } => {
                    self.found.values.require_unless_integer(
                        &name.lexeme(),
                        Need::Plain,
                        &operator.lexeme(),
                        reason(),
                        span,
                    );
                }
            }
            if name.word.is_one_word() {
                return;
            }
        }
    }
}

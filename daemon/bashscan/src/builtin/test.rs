//! `test` and `[`.

use super::Argument;
use crate::lexer::Parser;
use crate::opaque::Reason;
use crate::variable::is_plain_reference;
use crate::word::WordKind;

impl Parser<'_, '_> {
    /// `-v NAME` and `-R NAME` evaluate a subscript in the name. Neither may come from data: not
    /// the operator, and not words that an unquoted expansion becomes.
    pub(super) fn test(&mut self, operands: &[Argument]) {
        for (at, operand) in operands.iter().enumerate() {
            let next = operands.get(at + 1);
            let span = operand.word.span;
            match &operand.word.kind {
                WordKind::Literal(text) => {
                    let takes_name = matches!(text.as_str(), "-v" | "-R");
                    if takes_name && next.is_some_and(may_have_subscript) {
                        self.found
                            .opaque(Reason::DynamicVariable("test -v".to_owned()), span);
                    }
                }
                WordKind::Glob { .. } => {
                    if operand.word.may_be_option() {
                        self.found
                            .opaque(Reason::DynamicVariable("test".to_owned()), span);
                    }
                }
                WordKind::Dynamic {
                    one_word: false, ..
                } => {
                    self.found
                        .integers
                        .require_integer(&operand.lexeme, "test", span);
                }
                WordKind::Dynamic { one_word: true, .. } => {
                    if operand.word.may_be_option() && next.is_some_and(may_have_subscript) {
                        self.found
                            .opaque(Reason::DynamicVariable("test".to_owned()), span);
                    }
                }
            }
        }
    }
}

/// Whether it may be the name of a variable with a subscript that is evaluated.
fn may_have_subscript(argument: &Argument) -> bool {
    match &argument.word.kind {
        WordKind::Literal(text) => text.contains('[') && !is_plain_reference(text),
        WordKind::Dynamic { .. } => !argument.lexeme.is_integer(),
        WordKind::Glob { .. } => true,
    }
}

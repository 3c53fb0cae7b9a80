//! `declare`, `typeset`, `local`, `readonly`, `export`.

use super::Argument;
use crate::lexer::{Lexeme, Parser};
use crate::opaque::Reason;
use crate::scan::Dialect;
use crate::variable::{
    affects_programs, affects_shell, is_locale, is_plain_locale, is_plain_reference,
};
use crate::word::WordKind;

/// Builtins whose arguments are read as assignments.
pub(crate) fn is_declaration(name: &str) -> bool {
    matches!(
        name,
        "declare" | "typeset" | "local" | "readonly" | "export"
    )
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the attributes of bash are independent"
)]
struct Attributes {
    exports: bool,
    integer: bool,
    array: bool,
    associative: bool,
}

impl Parser<'_, '_> {
    /// `plain`: the shell knew it for a declaration when it read the words, so that the values are
    /// not split.
    pub(super) fn declare(&mut self, builtin: &str, operands: &[Argument], plain: bool) {
        let mut attributes = Attributes {
            exports: builtin == "export",
            ..Attributes::default()
        };
        let mut in_options = true;
        for operand in operands {
            match operand.literal() {
                Some("--") if in_options => in_options = false,
                Some("-") => {}
                Some(text) if in_options && text.starts_with(['-', '+']) => {
                    self.declare_option(builtin, text, &mut attributes, operand);
                }
                _ => {
                    in_options = false;
                    self.declare_operand(builtin, operand, &attributes, plain);
                }
            }
        }
    }

    fn declare_option(
        &mut self,
        builtin: &str,
        text: &str,
        attributes: &mut Attributes,
        operand: &Argument,
    ) {
        let sets = text.starts_with('-');
        for letter in text.chars().skip(1) {
            match letter {
                'n' if builtin == "export" => attributes.exports = false,
                'n' => self.found.opaque(
                    Reason::DynamicVariable(format!("{builtin} -n")),
                    operand.word.span,
                ),
                'f' if builtin == "export" => {
                    self.found.opaque(
                        Reason::ShellState("export -f".to_owned()),
                        operand.word.span,
                    );
                }
                'x' => attributes.exports = sets,
                'i' => attributes.integer = sets,
                'A' => attributes.associative = sets,
                'a' => attributes.array = sets,
                'f' | 'F' | 'g' | 'I' | 'l' | 'p' | 'r' | 't' | 'u' => {}
                _ => self
                    .found
                    .opaque(Reason::ShellState(builtin.to_owned()), operand.word.span),
            }
        }
    }

    /// Of an array, a value that begins with a parenthesis is read again as a list, with all
    /// substitutions in it, wherever it came from.
    fn list_in_value(
        &mut self,
        builtin: &str,
        name: &str,
        value: &Lexeme,
        attributes: &Attributes,
        operand: &Argument,
    ) {
        let span = operand.word.span;
        let may_be_list = match value.constant() {
            Some(text) => text.starts_with('('),
            None => value.prefix().is_empty() || value.prefix().starts_with('('),
        };
        if !may_be_list || builtin == "export" {
            return;
        }
        if attributes.array || attributes.associative || value.prefix().starts_with('(') {
            self.found.opaque(Reason::Code(builtin.to_owned()), span);
        } else if !value.is_integer() {
            self.found.integers.not_array(name, span);
        }
    }

    fn declare_operand(
        &mut self,
        builtin: &str,
        operand: &Argument,
        attributes: &Attributes,
        plain: bool,
    ) {
        let span = operand.word.span;
        let prefix = operand.lexeme.prefix();
        let (name, value) = match prefix.split_once('=') {
            Some((name, _)) => {
                let value = operand.lexeme.behind(name.len() + 1);
                (
                    name.strip_suffix('+').unwrap_or(name).to_owned(),
                    Some(value),
                )
            }
            None => (operand.literal().unwrap_or_default().to_owned(), None),
        };
        let splits = (operand.lexeme.splits || operand.lexeme.pattern)
            && !(plain && self.dialect == Dialect::Bash);
        if splits || !is_plain_reference(&name) {
            self.found
                .opaque(Reason::DynamicVariable(builtin.to_owned()), span);
            return;
        }
        let name = name.split('[').next().unwrap_or(&name);
        // Of an array the elements were seen when it was read.
        let is_array = matches!(operand.word.kind, WordKind::Dynamic { .. })
            && operand.lexeme.constant().is_some();
        if attributes.integer {
            self.found.integers.integer_attribute(name);
        }
        if attributes.associative || attributes.array {
            self.found.integers.is_array(name);
        }
        if attributes.associative {
            let command = self.found.commands.len().saturating_sub(1);
            self.found.integers.associative(name, command);
        } else if builtin != "export" && builtin != "readonly" {
            self.found.integers.not_associative(name);
        }
        let constant = value.as_ref().and_then(Lexeme::constant);
        let plain_locale = is_locale(name) && constant.as_deref().is_some_and(is_plain_locale);
        if let Some(value) = &value {
            let context = self.context.clone();
            self.found.assigned(name, &context, span);
            if is_array {
                self.found.integers.is_array(name);
            } else {
                self.found.integers.assign(name, value, span);
                self.list_in_value(builtin, name, value, attributes, operand);
            }
            if affects_shell(name) || (is_locale(name) && !plain_locale) {
                self.found.opaque(Reason::Variable(name.to_owned()), span);
            }
        }
        if attributes.exports && !affects_shell(name) && !plain_locale && affects_programs(name) {
            self.found.opaque(Reason::Variable(name.to_owned()), span);
        }
    }
}

//! `declare`, `typeset`, `local`, `readonly`, `export`.

use super::Argument;
use crate::context::Place;
use crate::lexer::{Lexeme, Parser};
use crate::opaque::Reason;
use crate::scan::Dialect;
use crate::value::Value;
use crate::value::is_plain_setting;
use crate::variable::{affects_programs, affects_shell, is_plain_reference};
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
    readonly: bool,
    /// Nothing is declared, or the value that was there is kept.
    keeps: bool,
    /// A value becomes upper or lower case.
    changes: bool,
}

/// One operand of a declaration.
struct Declared<'a> {
    builtin: &'a str,
    name: &'a str,
    appends: bool,
    operand: &'a Argument,
    attributes: &'a Attributes,
}

impl Parser<'_, '_> {
    /// `plain`: the shell knew it for a declaration when it read the words, so that the values are
    /// not split.
    pub(super) fn declare(&mut self, builtin: &str, operands: &[Argument], plain: bool) {
        let mut attributes = Attributes {
            exports: builtin == "export",
            readonly: builtin == "readonly",
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
                'l' | 'u' => attributes.changes = true,
                'f' | 'F' | 'I' | 'p' => attributes.keeps = true,
                'r' => attributes.readonly = sets,
                'g' | 't' => {}
                _ => self
                    .found
                    .opaque(Reason::ShellState(builtin.to_owned()), operand.word.span),
            }
        }
    }

    /// Of an array, a value that begins with a parenthesis is read again as a list, with all
    /// substitutions in it, wherever it came from.
    fn list_in_value(&mut self, declared: &Declared<'_>, value: &Lexeme) {
        let Declared {
            builtin,
            name,
            attributes,
            operand,
            ..
        } = declared;
        let span = operand.word.span;
        let may_be_list = match value.constant() {
            Some(text) => text.starts_with('('),
            None => value.prefix().is_empty() || value.prefix().starts_with('('),
        };
        if !may_be_list || *builtin == "export" {
            return;
        }
        if attributes.array || attributes.associative || value.prefix().starts_with('(') {
            self.found.opaque(Reason::Code((*builtin).to_owned()), span);
        } else if !Value::of(value).is_certain_integer() {
            self.found.values.not_array(name, span);
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
        let prefix = operand.lexeme().prefix();
        let appends = prefix
            .split_once('=')
            .is_some_and(|(name, _)| name.ends_with('+'));
        let (name, value) = match prefix.split_once('=') {
            Some((name, _)) => {
                let value = operand.lexeme().behind(name.len() + 1);
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
        let declared = Declared {
            builtin,
            name,
            appends,
            operand,
            attributes,
        };
        self.declared(&declared, value.is_some());
        let is_plain = value
            .as_ref()
            .is_some_and(|value| !appends && is_plain_setting(name, value));
        if let Some(value) = &value {
            self.declared_value(&declared, value);
        }
        if attributes.exports && !affects_shell(name) && !is_plain && affects_programs(name) {
            self.found.opaque(Reason::Variable(name.to_owned()), span);
        }
    }

    /// What a declaration makes of a variable.
    fn declared(&mut self, declared: &Declared<'_>, has_value: bool) {
        let Declared {
            builtin,
            name,
            attributes,
            operand,
            ..
        } = declared;
        let in_function = self.context.function().is_some();
        if attributes.integer {
            self.found.values.integer_attribute(name);
        }
        if attributes.changes {
            self.found.values.changing_attribute(name);
        }
        if attributes.associative || attributes.array {
            self.found.values.is_array(name);
        }
        if attributes.associative {
            let elsewhere = self.context.is_in(Place::Code) || self.context.is_in(Place::Wrapper);
            let fails = *builtin == "local" && !in_function;
            if let Some(site) = self.command_site.filter(|_| !elsewhere && !fails) {
                self.found.values.associative(name, site);
            }
        } else if !matches!(*builtin, "export" | "readonly") {
            self.found.values.not_associative(name);
        }
        // A local variable begins as nothing; others keep what they had.
        let is_local = in_function && !matches!(*builtin, "export" | "readonly");
        let is_set = if has_value {
            // `local` fails outside of functions.
            (in_function || *builtin != "local")
                && !declared.appends
                && !operand.lexeme().prefix().contains('[')
        } else {
            self.found.values.emptied(name);
            if attributes.readonly {
                self.found.values.kept(name);
            }
            is_local && !attributes.keeps
        };
        if let Some(site) = self.command_site.filter(|_| is_set) {
            let context = &self.context;
            self.found.assigned_for_certain(name, context, site);
        }
    }

    fn declared_value(&mut self, declared: &Declared<'_>, value: &Lexeme) {
        let Declared { name, operand, .. } = declared;
        let span = operand.word.span;
        let context = self.context.clone();
        self.found.assigned(name, &context, span);
        // Of an array the elements were seen when it was read.
        let is_array = matches!(operand.word.kind, WordKind::Dynamic { .. })
            && operand.lexeme().constant().is_some();
        if is_array {
            self.found.values.is_array(name);
        } else {
            if declared.appends {
                self.found.values.append(name, value, span);
            } else {
                self.found.values.assign(name, value, span);
            }
            self.list_in_value(declared, value);
        }
        let whole = (!declared.appends && !is_array).then_some(value);
        self.found.setting(name, whole, span);
    }
}

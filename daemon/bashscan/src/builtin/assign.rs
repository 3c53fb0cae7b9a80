//! Builtins that set variables whose names they are given.

use super::options::options;
use super::{Argument, span_of};
use crate::lexer::Parser;
use crate::opaque::Reason;
use crate::value::{Kind, Need, Value, positional_in};
use crate::variable::is_plain_reference;
use crate::word::Span;

impl Parser<'_, '_> {
    /// A builtin sets the variable of that name to something unknown.
    fn set_named(&mut self, builtin: &str, name: Option<&str>, span: Span) {
        match name {
            Some(name) if is_plain_reference(name) => {
                let name = name.split('[').next().unwrap_or(name);
                let context = self.context.clone();
                self.found.assigned(name, &context, span);
                if crate::variable::affects_shell(name) || crate::variable::is_locale(name) {
                    self.found.opaque(Reason::Variable(name.to_owned()), span);
                }
                self.found.values.assign_unknown(name, span);
                if matches!(builtin, "read" | "mapfile" | "readarray") {
                    self.found.values.has_elements(name, span);
                }
            }
            _ => self
                .found
                .opaque(Reason::DynamicVariable(builtin.to_owned()), span),
        }
    }

    fn unknown_option(&mut self, builtin: &str, argument: Option<&Argument>) {
        if let Some(argument) = argument {
            self.found.opaque(
                Reason::DynamicVariable(builtin.to_owned()),
                argument.word.span,
            );
        }
    }

    /// The word must not become an option.
    fn no_option(&mut self, builtin: &str, argument: Option<&Argument>) {
        let Some(argument) = argument else { return };
        if argument.lexeme.pattern {
            return self.unknown_option(builtin, Some(argument));
        }
        let splits = !argument.word.is_one_word();
        let reason = Reason::DynamicVariable(builtin.to_owned());
        let span = argument.word.span;
        let need = Need::NoOption { splits };
        let values = &mut self.found.values;
        values.require(&argument.lexeme(), need, reason, span);
    }

    pub(super) fn read(&mut self, operands: &[Argument]) {
        let read = options(operands, "adinNptu");
        if read.shifts() {
            self.unknown_option("read", operands.first());
        }
        for (letter, value, text) in &read.given {
            if *letter == 'a' {
                let span = value.map_or(span_of(operands), |value| value.word.span);
                self.set_named("read", text.as_deref(), span);
            }
        }
        for operand in read.operands {
            self.set_named("read", operand.literal(), operand.word.span);
        }
        if read.operands.is_empty() {
            self.set_named("read", Some("REPLY"), span_of(operands));
        }
    }

    pub(super) fn mapfile(&mut self, name: &str, operands: &[Argument]) {
        let mapfile = options(operands, "dnOsuCc");
        if mapfile.has('C') {
            self.found
                .opaque(Reason::Code(name.to_owned()), span_of(operands));
        }
        if mapfile.shifts() {
            self.unknown_option(name, operands.first());
        }
        for operand in mapfile.operands {
            self.set_named(name, operand.literal(), operand.word.span);
        }
        if mapfile.operands.is_empty() {
            self.set_named(name, Some("MAPFILE"), span_of(operands));
        }
    }

    pub(super) fn printf(&mut self, operands: &[Argument]) {
        let printf = options(operands, "v");
        // Alone it can be no more than an option without a format.
        if operands.len() > 1 || operands.iter().any(|only| !only.word.is_one_word()) {
            self.no_option("printf", printf.unknown);
        }
        for (letter, value, text) in &printf.given {
            if *letter == 'v' {
                let span = value.map_or(span_of(operands), |value| value.word.span);
                self.set_named("printf", text.as_deref(), span);
            }
        }
    }

    pub(super) fn unset(&mut self, operands: &[Argument]) {
        let unset = options(operands, "");
        self.unknown_option("unset", unset.unknown);
        if unset.has('f') {
            self.found
                .opaque(Reason::ShellState("unset -f".to_owned()), span_of(operands));
            return;
        }
        for operand in unset.operands {
            let Some(name) = operand.literal().filter(|name| is_plain_reference(name)) else {
                self.found.opaque(
                    Reason::DynamicVariable("unset".to_owned()),
                    operand.word.span,
                );
                continue;
            };
            let name = name.split('[').next().unwrap_or(name);
            if crate::variable::affects_shell(name) {
                self.found
                    .opaque(Reason::Variable(name.to_owned()), operand.word.span);
            }
            self.found.values.unset(name, operand.word.span);
        }
    }

    pub(super) fn getopts(&mut self, operands: &[Argument]) {
        if let Some(letters) = operands.first()
            && !letters.word.is_one_word()
        {
            self.unknown_option("getopts", Some(letters));
        }
        let span = span_of(operands);
        if let Some(name) = operands.get(1) {
            self.set_named("getopts", name.literal(), name.word.span);
        }
        let context = self.context.clone();
        self.found.assigned("OPTARG", &context, span);
        let mut value = match positional_in(&context) {
            Some(all) => Value::of_name(all),
            None => Value::of_kind(Kind::Unknown),
        };
        for word in operands.iter().skip(2) {
            value.or(&Value::of(&word.lexeme()));
        }
        // A part of a word, or the letter of an option that is not known.
        (value.dash, value.inner_dash) = (true, true);
        value.kind = value.kind.max(Kind::Plain);
        self.found.values.assign_value("OPTARG", value, span);
    }

    /// `wait -p NAME`; the operands are process ids.
    pub(super) fn wait(&mut self, operands: &[Argument]) {
        let wait = options(operands, "p");
        for (letter, value, text) in &wait.given {
            if *letter == 'p' {
                let span = value.map_or(span_of(operands), |value| value.word.span);
                self.set_named("wait", text.as_deref(), span);
            }
        }
        for operand in wait.operands {
            if operand.word.may_be_option() && operand.literal().is_none() {
                self.no_option("wait", Some(operand));
            }
        }
    }
}

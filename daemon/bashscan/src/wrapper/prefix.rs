//! Finding the command behind a wrapper's options.

use super::table::Spec;
use crate::builtin::{Argument, span_of};
use crate::lexer::{Parser, Walk};
use crate::opaque::Reason;
use crate::variable::{affects_programs, is_identifier, is_locale, is_plain_locale};

/// What one word is to a wrapper.
enum Step {
    /// An option or operand that takes so many words.
    Skip(usize),
    /// The last option; no more follow.
    EndOfOptions,
    /// Not an option.
    Operand,
    /// What it is depends on what the word so many words further on becomes.
    Dynamic(usize),
    /// Not understood.
    Unknown,
}

/// Why the end of the options cannot be told.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stuck {
    /// It depends on what this word becomes.
    Dynamic(usize),
    /// An option that is not known.
    Unknown,
}

impl Parser<'_, '_> {
    /// `env`, `sudo`, `nice` and the like.
    pub(super) fn prefixed(
        &mut self,
        spec: &'static Spec,
        arguments: &[Argument],
        nested: usize,
    ) -> Walk {
        // `command -v NAME` runs nothing.
        let asks = arguments.get(1).and_then(Argument::literal);
        if spec.name == "command" && matches!(asks, Some("-v" | "-V" | "-pv" | "-pV")) {
            return Ok(());
        }
        let mut at = match spec.behind_options(arguments) {
            Ok(at) => at,
            Err(stuck) => {
                self.stuck(spec.name, arguments, stuck, nested);
                return Ok(());
            }
        };
        if spec.assigns {
            while let Some(argument) = arguments.get(at)
                && argument.word.prefix().contains('=')
            {
                self.environment(spec.name, argument);
                at += 1;
            }
        }
        for _ in 0..spec.operands {
            match arguments.get(at) {
                Some(operand) if operand.word.is_one_word() => at += 1,
                Some(_) => {
                    self.defer(arguments, at, nested);
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
        match arguments.get(at..) {
            None | Some([]) => Ok(()),
            Some(inner) => self.wrapped(spec.name, inner, nested),
        }
    }

    /// The command behind the options is not found.
    pub(super) fn stuck(
        &mut self,
        wrapper: &str,
        arguments: &[Argument],
        stuck: Stuck,
        nested: usize,
    ) {
        match stuck {
            Stuck::Dynamic(at) => self.defer(arguments, at, nested),
            Stuck::Unknown => self.not_understood(wrapper, span_of(arguments)),
        }
    }

    /// `NAME=VALUE` for the command's environment.
    fn environment(&mut self, wrapper: &str, argument: &Argument) {
        let span = argument.word.span;
        if !argument.word.is_one_word() {
            self.not_understood(wrapper, span);
            return;
        }
        let prefix = argument.word.prefix();
        let name = prefix.split('=').next().unwrap_or(prefix);
        let value = argument
            .literal()
            .and_then(|text| text.split_once('='))
            .map(|(_, value)| value);
        self.found
            .values
            .assign(name, &argument.lexeme().behind(name.len() + 1), span);
        let strange_locale = is_locale(name) && !value.is_some_and(is_plain_locale);
        if !is_identifier(name) || affects_programs(name) || strange_locale {
            self.found.opaque(Reason::Variable(name.to_owned()), span);
        }
    }
}

impl Spec {
    /// Index of the first word behind the options.
    pub(super) fn behind_options(&self, arguments: &[Argument]) -> Result<usize, Stuck> {
        let mut at = 1;
        loop {
            let Some(argument) = arguments.get(at) else {
                return Ok(at);
            };
            match self.step(argument, arguments.get(at + 1)) {
                Step::Skip(words) => at += words,
                Step::EndOfOptions => return Ok(at + 1),
                Step::Operand => return Ok(at),
                Step::Dynamic(ahead) => return Err(Stuck::Dynamic(at + ahead)),
                Step::Unknown => return Err(Stuck::Unknown),
            }
        }
    }

    fn step(&self, argument: &Argument, next: Option<&Argument>) -> Step {
        if !argument.word.is_one_word() && (argument.word.may_be_option() || self.operands > 0) {
            return Step::Dynamic(0);
        }
        let text = argument.word.prefix();
        let is_whole = argument.literal().is_some();
        if !is_whole && argument.word.prefix().is_empty() {
            return Step::Dynamic(0);
        }
        if text == "--" && is_whole {
            return Step::EndOfOptions;
        }
        if text == "-" && is_whole {
            // An old spelling of `env -i`.
            return if self.name == "env" {
                Step::Skip(1)
            } else {
                Step::Operand
            };
        }
        if let Some(long) = text.strip_prefix("--") {
            return self.long(long, is_whole, next);
        }
        match text.strip_prefix('-') {
            Some(letters) => self.short(letters, is_whole, next),
            None => Step::Operand,
        }
    }

    fn long(&self, text: &str, is_whole: bool, next: Option<&Argument>) -> Step {
        match text.split_once('=') {
            Some((name, _)) if self.long_values.contains(&name) => Step::Skip(1),
            None if is_whole && self.long_flags.contains(&text) => Step::Skip(1),
            None if is_whole && self.long_values.contains(&text) => value_in_next(next),
            _ => Step::Unknown,
        }
    }

    fn short(&self, letters: &str, is_whole: bool, next: Option<&Argument>) -> Step {
        if self.numbers && is_whole && letters.bytes().all(|b| b.is_ascii_digit()) {
            return Step::Skip(1);
        }
        for (index, letter) in letters.char_indices() {
            if self.flags.contains(letter) {
                continue;
            }
            if !self.values.contains(letter) {
                return Step::Unknown;
            }
            let attached = index + letter.len_utf8() < letters.len();
            return if attached || !is_whole {
                Step::Skip(1)
            } else {
                value_in_next(next)
            };
        }
        if is_whole {
            Step::Skip(1)
        } else {
            Step::Unknown
        }
    }
}

fn value_in_next(next: Option<&Argument>) -> Step {
    match next {
        Some(value) if value.word.is_one_word() => Step::Skip(2),
        Some(_) => Step::Dynamic(1),
        None => Step::Skip(1),
    }
}

//! `set`, `shopt` and other builtins that change how the shell works.

use super::Argument;
use super::options::options;
use crate::lexer::Parser;
use crate::opaque::Reason;
use crate::value::{Need, Value, positional_in};
use crate::word::Span;

/// Options of `set` that leave the grammar, the environment and the history alone.
const SET_LETTERS: &str = "euxvfnbhmBCETt";
const SET_NAMES: &[&str] = &[
    "braceexpand",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "notify",
    "nounset",
    "pipefail",
    "verbose",
    "xtrace",
];

/// Options of `shopt` that only decide which files a pattern matches, or how errors are reported.
const SHOPT_NAMES: &[&str] = &[
    "checkwinsize",
    "dotglob",
    "failglob",
    "globasciiranges",
    "globstar",
    "inherit_errexit",
    "lastpipe",
    "nocaseglob",
    "nullglob",
    "shift_verbose",
];

/// Whether `set` (or a shell's command line) may be given this option.
pub(crate) fn is_harmless_option(name: &str) -> bool {
    SET_NAMES.contains(&name)
}

/// Whether `set` (or a shell's command line) may be given this letter.
pub(crate) fn is_harmless_letter(letter: char) -> bool {
    SET_LETTERS.contains(letter)
}

impl Parser<'_, '_> {
    pub(super) fn set(&mut self, operands: &[Argument], span: Span) {
        let mut at = 0;
        while let Some(operand) = operands.get(at) {
            at += 1;
            let harmless = match operand.literal() {
                Some("--" | "-") => {
                    self.set_positional(operands.get(at..).unwrap_or_default(), true);
                    return;
                }
                Some("-o" | "+o") => {
                    at += 1;
                    match operands.get(at - 1).map(Argument::literal) {
                        Some(Some(name)) => is_harmless_option(name),
                        Some(None) => false,
                        None => true,
                    }
                }
                Some(text) if text.starts_with(['-', '+']) => {
                    let letters = text.get(1..).unwrap_or("");
                    if letters.ends_with('o') {
                        at += 1;
                        let name = operands.get(at - 1).and_then(Argument::literal);
                        name.is_some_and(is_harmless_option)
                            && letters
                                .chars()
                                .all(|letter| letter == 'o' || is_harmless_letter(letter))
                    } else {
                        letters.chars().all(is_harmless_letter)
                    }
                }
                None if operand.lexeme.pattern && operand.word.may_be_option() => false,
                Some(_) | None => {
                    self.set_positional(operands.get(at - 1..).unwrap_or_default(), false);
                    return;
                }
            };
            if !harmless {
                self.found
                    .opaque(Reason::ShellState("set".to_owned()), span);
                return;
            }
        }
    }

    /// What `set` gives to the positional parameters; the first of them must be no option unless
    /// options have ended.
    fn set_positional(&mut self, operands: &[Argument], ended: bool) {
        for operand in operands {
            if ended {
                break;
            }
            let splits = !operand.word.is_one_word();
            if splits || operand.word.may_be_option() {
                let need = Need::NoOption { splits };
                let reason = Reason::ShellState("set".to_owned());
                let values = &mut self.found.values;
                values.require(&operand.lexeme(), need, reason, operand.word.span);
            }
            if !splits {
                break;
            }
        }
        let values = &mut self.found.values;
        match positional_in(&self.context) {
            Some(name) => {
                for operand in operands {
                    values.positional(&name, &Value::of(&operand.lexeme()), operand.word.span);
                }
            }
            None => values.positional_unknown(),
        }
    }

    pub(super) fn shopt(&mut self, operands: &[Argument], span: Span) {
        let shopt = options(operands, "");
        let changes = shopt
            .given
            .iter()
            .any(|(letter, _, _)| !matches!(letter, 'p' | 'q'));
        let harmless = shopt.unknown.is_none()
            && !shopt.has('o')
            && (!changes
                || shopt
                    .operands
                    .iter()
                    .all(|o| o.literal().is_some_and(|name| SHOPT_NAMES.contains(&name))));
        if !harmless {
            self.found
                .opaque(Reason::ShellState("shopt".to_owned()), span);
        }
    }

    /// `hash -p FILE NAME`, `jobs -x COMMAND`.
    pub(super) fn state_option(&mut self, name: &str, operands: &[Argument], span: Span) {
        let given = options(operands, "");
        if given.unknown.is_some() || given.has('p') && name == "hash" || given.has('x') {
            self.found.opaque(Reason::ShellState(name.to_owned()), span);
        }
    }
}

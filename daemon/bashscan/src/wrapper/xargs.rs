//! `xargs`, `watch`, `script`, `flock`.

use super::find::unknown;
use super::table::Spec;
use crate::builtin::{Argument, span_of};
use crate::lexer::{Parser, Walk};
use crate::scan::Dialect;
use crate::word::Span;

const XARGS: Spec = Spec {
    name: "xargs",
    flags: "0oprtx",
    values: "adEILnPs",
    long_flags: &[
        "null",
        "open-tty",
        "interactive",
        "no-run-if-empty",
        "verbose",
        "exit",
    ],
    long_values: &[
        "arg-file",
        "delimiter",
        "max-lines",
        "max-args",
        "max-procs",
        "max-chars",
        "replace",
    ],
    operands: 0,
    assigns: false,
    numbers: false,
};

const WATCH: Spec = Spec {
    name: "watch",
    flags: "bcdegtpwx",
    values: "nq",
    long_flags: &[
        "beep",
        "color",
        "differences",
        "errexit",
        "chgexit",
        "no-title",
        "precise",
        "no-wrap",
        "exec",
    ],
    long_values: &["interval", "equexit"],
    operands: 0,
    assigns: false,
    numbers: false,
};

const FLOCK: Spec = Spec {
    name: "flock",
    flags: "sxeunoFv",
    values: "wE",
    long_flags: &[
        "shared",
        "exclusive",
        "unlock",
        "nonblock",
        "nb",
        "close",
        "no-fork",
        "verbose",
    ],
    long_values: &["wait", "timeout", "conflict-exit-code"],
    operands: 0,
    assigns: false,
    numbers: false,
};

const SCRIPT: Spec = Spec {
    name: "script",
    flags: "aefqt",
    values: "cEoTBIO",
    long_flags: &["append", "return", "flush", "quiet", "force"],
    long_values: &[
        "command",
        "echo",
        "output-limit",
        "log-io",
        "log-in",
        "log-out",
        "log-timing",
    ],
    operands: 0,
    assigns: false,
    numbers: false,
};

impl Parser<'_, '_> {
    pub(super) fn xargs(&mut self, arguments: &[Argument], nested: usize) -> Walk {
        let span = span_of(arguments);
        let at = match XARGS.behind_options(arguments) {
            Ok(at) => at,
            Err(stuck) => {
                self.stuck("xargs", arguments, stuck, nested);
                return Ok(());
            }
        };
        let options = arguments.get(1..at).unwrap_or_default();
        let Ok(replaced) = replacement(options) else {
            self.not_understood("xargs", span);
            return Ok(());
        };
        let command = arguments.get(at..).unwrap_or_default();
        if command.is_empty() {
            // Runs echo.
            return Ok(());
        }
        let mut inner: Vec<Argument> = Vec::with_capacity(command.len() + 1);
        for word in command {
            let holds = replaced
                .as_deref()
                .is_some_and(|mark| word.literal().is_some_and(|text| text.contains(mark)));
            match (word.literal(), replaced.as_deref()) {
                (Some(text), Some(mark)) if holds => {
                    let prefix = text.split(mark).next().unwrap_or("");
                    inner.push(unknown(word.word.span, prefix, true));
                }
                _ => inner.push(word.clone()),
            }
        }
        if replaced.is_none() {
            inner.push(unknown(span, "", false));
        }
        self.wrapped("xargs", &inner, nested)
    }

    /// `watch` joins its words and gives them to `sh -c`.
    pub(super) fn watch(&mut self, arguments: &[Argument], span: Span) -> Walk {
        let words = WATCH.behind_options(arguments).ok().and_then(|at| {
            let words = arguments.get(at..).unwrap_or_default();
            words
                .iter()
                .map(Argument::literal)
                .collect::<Option<Vec<&str>>>()
        });
        let text = words.map(|words| words.join(" "));
        self.code_or_opaque("watch", text.as_deref(), Dialect::Posix, span)
    }

    /// `script -c COMMAND`; without a command it starts a shell.
    pub(super) fn script_program(&mut self, arguments: &[Argument], span: Span) -> Walk {
        let options = SCRIPT
            .behind_options(arguments)
            .ok()
            .and_then(|at| arguments.get(1..at))
            .unwrap_or_default();
        let at = options
            .iter()
            .position(|option| matches!(option.literal(), Some("-c" | "--command" | "-qc")));
        let text = at
            .and_then(|at| options.get(at + 1))
            .and_then(Argument::literal);
        self.code_or_opaque("script", text, Dialect::Posix, span)
    }

    /// `flock [options] FILE COMMAND …`, `flock [options] FILE -c TEXT`, `flock [options] NUMBER`.
    pub(super) fn flock(&mut self, arguments: &[Argument], span: Span, nested: usize) -> Walk {
        let at = FLOCK.behind_options(arguments).ok();
        let operands = at.and_then(|at| arguments.get(at..)).unwrap_or_default();
        match operands {
            [file] if file.word.is_one_word() && at.is_some() => Ok(()),
            [file, command, text]
                if file.word.is_one_word()
                    && matches!(command.literal(), Some("-c" | "--command")) =>
            {
                self.code_or_opaque("flock", text.literal(), Dialect::Posix, span)
            }
            [file, command, ..]
                if file.word.is_one_word()
                    && command.literal().is_some_and(|name| !name.starts_with('-')) =>
            {
                self.wrapped("flock", operands.get(1..).unwrap_or_default(), nested)
            }
            _ => {
                self.not_understood("flock", span);
                Ok(())
            }
        }
    }
}

/// The text that `-I` replaces, if it is given. `Err` if it cannot be told.
fn replacement(options: &[Argument]) -> Result<Option<String>, ()> {
    let mut found = None;
    let mut at = 0;
    while let Some(option) = options.get(at) {
        at += 1;
        let text = option.word.prefix();
        if let Some(mark) = text.strip_prefix("--replace=") {
            found = Some(option.literal().map(|_| mark.to_owned()).ok_or(())?);
        } else if text.starts_with("--replace") {
            found = Some("{}".to_owned());
        } else if let Some(letters) = text
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'))
        {
            let Some(index) = letters.find(|letter| XARGS.values.contains(letter)) else {
                continue;
            };
            let (letter, value) = letters.get(index..).unwrap_or("").split_at(1);
            let value = if value.is_empty() && option.literal().is_some() {
                at += 1;
                options.get(at - 1).and_then(Argument::literal)
            } else {
                option.literal().map(|_| value)
            };
            if letter == "I" {
                found = Some(value.filter(|mark| !mark.is_empty()).ok_or(())?.to_owned());
            }
        }
    }
    Ok(found)
}

//! What builtins do to the shell, and what they run.

mod assign;
mod code;
mod declare;
mod options;
mod state;
mod test;

use std::borrow::Cow;

use crate::lexer::{Lexeme, Parser, Walk, is_confusable};
use crate::opaque::Reason;
use crate::resolve::Deferred;
use crate::word::{Span, Word};

pub(crate) use declare::is_declaration;
pub(crate) use state::{is_harmless_letter, is_harmless_option};

/// A word of a command that is looked into.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// Without the text, if that is all of the word.
    pub(crate) lexeme: Lexeme,
    pub(crate) word: Word,
}

impl Argument {
    pub(crate) fn new(lexeme: Lexeme, span: Span) -> Self {
        let (lexeme, word) = lexeme.into_word(span);
        Self { lexeme, word }
    }

    /// All that is known about it.
    pub(crate) fn lexeme(&self) -> Cow<'_, Lexeme> {
        match self.literal() {
            Some(text) if self.lexeme.pieces.is_empty() => {
                let mut lexeme = self.lexeme.clone();
                lexeme.text().extend_from_slice(text.as_bytes());
                Cow::Owned(lexeme)
            }
            _ => Cow::Borrowed(&self.lexeme),
        }
    }

    pub(crate) fn literal(&self) -> Option<&str> {
        self.word.literal()
    }
}

/// The span of some arguments.
pub(crate) fn span_of(arguments: &[Argument]) -> Span {
    let start = arguments
        .first()
        .map_or(0, |argument| argument.word.span.start);
    let end = arguments
        .last()
        .map_or(start, |argument| argument.word.span.end);
    Span {
        start,
        end: end.max(start),
    }
}

/// Most wrappers around one command.
const MAX_WRAPPERS: usize = 16;

impl Parser<'_, '_> {
    /// Looks into a command: what it changes, and what it runs in turn.
    pub(crate) fn inspect(&mut self, arguments: &[Argument], nested: usize) -> Walk {
        let Some(first) = arguments.first() else {
            return Ok(());
        };
        let span = span_of(arguments);
        if nested > MAX_WRAPPERS {
            self.found.opaque(Reason::TooDeep, span);
            return Ok(());
        }
        let Some(name) = first.literal() else {
            self.defer(arguments, 0, nested);
            return Ok(());
        };
        if let Some(c) = name
            .chars()
            .find(|c| is_confusable(*c) || *c == '\n' || *c == '\t')
        {
            self.found.opaque(Reason::Character(c), first.word.span);
        }
        if self.builtin(name, arguments, nested)? {
            return Ok(());
        }
        self.wrapper(name, arguments, nested)
    }

    /// What is run depends on this word: it is looked up when all assignments are known.
    pub(crate) fn defer(&mut self, arguments: &[Argument], at: usize, nested: usize) {
        self.found.deferred.push(Deferred {
            arguments: arguments.to_vec(),
            at,
            nested,
            context: self.context.clone(),
            command: self.command,
            dialect: self.dialect,
        });
    }

    /// True if it was a builtin that is of interest.
    fn builtin(&mut self, name: &str, arguments: &[Argument], nested: usize) -> Walk<bool> {
        let operands = arguments.get(1..).unwrap_or_default();
        let span = span_of(arguments);
        match name {
            "eval" => self.eval(operands, span)?,
            "source" | "." => self.source(name, operands, span),
            "trap" => self.trap(operands, span)?,
            "alias" | "enable" | "bind" | "complete" | "compgen" | "compopt" | "fc" | "history" => {
                self.found.opaque(Reason::ShellState(name.to_owned()), span);
            }
            "shopt" => self.shopt(operands, span),
            "set" => self.set(operands, span),
            "hash" | "jobs" => self.state_option(name, operands, span),
            "let" => {
                for operand in operands {
                    self.found
                        .values
                        .evaluate(&operand.lexeme(), &self.context, operand.word.span);
                }
            }
            "declare" | "typeset" | "local" | "readonly" | "export" => {
                let plain =
                    nested == 0 && arguments.first().is_some_and(|first| !first.lexeme.quoted);
                self.declare(name, operands, plain);
            }
            "read" => self.read(operands),
            "mapfile" | "readarray" => self.mapfile(name, operands),
            "printf" => self.printf(operands),
            "unset" => self.unset(operands),
            "getopts" => self.getopts(operands),
            "wait" => self.wait(operands),
            "test" => self.test(operands),
            "[" => self.test(operands.split_last().map_or(operands, |(_, rest)| rest)),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

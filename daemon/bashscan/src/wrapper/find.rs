//! `find -exec` and its kin.

use crate::builtin::{Argument, span_of};
use crate::lexer::{Lexeme, Parser, Piece, Walk};
use crate::opaque::Reason;
use crate::value::Need;
use crate::word::{Span, WordKind};

/// Tests and actions that take one argument, whatever it is.
const TAKES_ONE: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-size",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-perm",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-fstype",
    "-inum",
    "-links",
    "-samefile",
    "-newermt",
    "-newerct",
    "-newerat",
    "-regextype",
];

impl Parser<'_, '_> {
    pub(super) fn find(&mut self, arguments: &[Argument], nested: usize) -> Walk {
        let mut at = 1;
        while let Some(argument) = arguments.get(at) {
            at += 1;
            match argument.literal() {
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    let rest = arguments.get(at..).unwrap_or_default();
                    let Some(length) = command_length(rest) else {
                        self.not_understood("find", span_of(arguments));
                        return Ok(());
                    };
                    let inner: Vec<Argument> =
                        rest.iter().take(length).map(with_file_names).collect();
                    self.wrapped("find", &inner, nested)?;
                    at += length + 1;
                }
                // Names and dates are data even when they look like something else.
                Some(text) if TAKES_ONE.contains(&text) => {
                    if let Some(value) = arguments.get(at)
                        && (value.word.is_one_word() || !value.word.may_be_option())
                    {
                        at += 1;
                    }
                }
                Some(_) => {}
                None => {
                    let splits = !argument.word.is_one_word();
                    // Of a command to run, the name would be the next word.
                    let next = arguments.get(at).map(Argument::literal);
                    let no_command = next.is_none_or(|next| {
                        next.is_some_and(|text| text.starts_with(['-', '(', ')', '!']))
                    });
                    let is_glob = matches!(argument.word.kind, WordKind::Glob { .. });
                    if is_glob && argument.word.may_be_option() {
                        self.not_understood("find", argument.word.span);
                    } else if !is_glob && (splits || (argument.word.may_be_option() && !no_command))
                    {
                        let need = Need::NoOption { splits };
                        let reason = Reason::Wrapper("find".to_owned());
                        let span = argument.word.span;
                        let values = &mut self.found.values;
                        values.require(&argument.lexeme(), need, reason, span);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Words up to `;` or `{} +`.
fn command_length(words: &[Argument]) -> Option<usize> {
    for (at, word) in words.iter().enumerate() {
        let before = at
            .checked_sub(1)
            .and_then(|at| words.get(at))
            .and_then(Argument::literal);
        match word.literal() {
            Some(";") => return Some(at),
            Some("+") if before == Some("{}") => return Some(at),
            // It could be the end of the command.
            None if !word.word.is_one_word() || word.word.prefix().is_empty() => return None,
            Some(_) | None => {}
        }
    }
    None
}

/// `{}` anywhere in a word stands for a file's name.
fn with_file_names(word: &Argument) -> Argument {
    match word.literal() {
        Some(text) if text.contains("{}") => {
            unknown(word.word.span, text.split("{}").next().unwrap_or(""), true)
        }
        _ => word.clone(),
    }
}

/// A word that is known only when the wrapper runs.
pub(super) fn unknown(span: Span, prefix: &str, one_word: bool) -> Argument {
    let mut lexeme = Lexeme {
        splits: !one_word,
        quoted: true,
        ..Lexeme::default()
    };
    if !prefix.is_empty() {
        lexeme.text().extend_from_slice(prefix.as_bytes());
    }
    lexeme.pieces.push(Piece::Unknown);
    let kind = WordKind::Dynamic {
        prefix: prefix.to_owned(),
        one_word,
    };
    Argument {
        lexeme,
        word: crate::word::Word { kind, span },
    }
}

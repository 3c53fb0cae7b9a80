//! `sh -c`, `bash -c`.

use crate::builtin::{Argument, is_harmless_letter, is_harmless_option, span_of};
use crate::lexer::{Parser, Walk};
use crate::opaque::Reason;
use crate::scan::Dialect;
use crate::word::Span;

/// How a shell is called.
enum Called<'a> {
    /// With this text.
    Text(&'a Argument),
    /// With a script's file.
    File,
    /// In a way that is not understood, or reading its standard input.
    Unclear,
}

impl Parser<'_, '_> {
    pub(super) fn shell(&mut self, program: &str, arguments: &[Argument], span: Span) -> Walk {
        let mut dialect = if program == "bash" {
            Dialect::Bash
        } else {
            Dialect::Posix
        };
        match called(arguments, &mut dialect) {
            Called::Text(text) => {
                let span = span_of(std::slice::from_ref(text));
                self.code_or_opaque(program, text.literal(), dialect, span)
            }
            Called::File => Ok(()),
            Called::Unclear => {
                self.found.opaque(Reason::Code(program.to_owned()), span);
                Ok(())
            }
        }
    }
}

fn called<'a>(arguments: &'a [Argument], dialect: &mut Dialect) -> Called<'a> {
    let mut has_text = false;
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        let Some(text) = argument.literal() else {
            break;
        };
        at += 1;
        match text {
            "--norc" | "--noprofile" => {}
            "--posix" => *dialect = Dialect::Posix,
            "--version" | "--help" => return Called::File,
            "--" | "-" => break,
            _ if text.starts_with("--") => return Called::Unclear,
            _ if text.starts_with(['-', '+']) => {
                for letter in text.chars().skip(1) {
                    match letter {
                        'c' => has_text = true,
                        'o' => {
                            let name = arguments.get(at).and_then(Argument::literal);
                            if !name.is_some_and(is_harmless_option) {
                                return Called::Unclear;
                            }
                            at += 1;
                        }
                        _ if is_harmless_letter(letter) => {}
                        _ => return Called::Unclear,
                    }
                }
            }
            _ => {
                at -= 1;
                break;
            }
        }
    }
    match arguments.get(at) {
        Some(text) if has_text => Called::Text(text),
        Some(file) if file.literal().is_some() => Called::File,
        Some(_) | None => Called::Unclear,
    }
}

//! Values that leave the shell as it is, of variables that change it otherwise.

use crate::lexer::{Lexeme, Piece};
use crate::variable::{is_locale, is_plain_locale};

/// Directories that hold the system's programs and that nobody but root can write to.
const SYSTEM_DIRECTORIES: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/run/current-system/sw/bin",
    "/run/wrappers/bin",
];

/// Whether the variable decides nothing about the script when it has this value.
pub(crate) fn is_plain_setting(name: &str, value: &Lexeme) -> bool {
    match name {
        "PATH" => is_system_path(value),
        // Only unquoted expansions are split by it, and what they become is not known anyway.
        "IFS" => value.constant().is_some(),
        _ if is_locale(name) => value
            .constant()
            .is_some_and(|value| is_plain_locale(&value)),
        _ => false,
    }
}

/// System directories, and what `PATH` was before. An empty entry would be the working directory.
fn is_system_path(value: &Lexeme) -> bool {
    const BEFORE: &str = "$PATH";
    let mut path = String::new();
    for piece in value.pieces.iter() {
        match piece {
            Piece::Text(text) => match std::str::from_utf8(text) {
                Ok(text) if !text.contains('$') => path.push_str(text),
                Ok(_) | Err(_) => return false,
            },
            Piece::Variable(name) if name == "PATH" => path.push_str(BEFORE),
            Piece::Variable(_) | Piece::Derived(_) | Piece::Integer | Piece::Unknown => {
                return false;
            }
        }
    }
    !value.pattern
        && path
            .split(':')
            .all(|entry| entry == BEFORE || SYSTEM_DIRECTORIES.contains(&entry))
}

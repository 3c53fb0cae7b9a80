//! The text of an arithmetic expression.

use super::{Kind, Value};
use crate::lexer::{Lexeme, Piece};
use crate::variable::{is_identifier_byte, is_identifier_start};

/// A marker for an expansion within the text of an expression.
const EXPANSION: u8 = 1;

fn flattened(word: &Lexeme) -> Option<(Vec<u8>, Vec<String>)> {
    let mut text = Vec::new();
    let mut names = Vec::new();
    for piece in word.pieces.iter() {
        match piece {
            Piece::Text(part) if part.iter().any(|b| matches!(b, b'$' | b'`')) => return None,
            Piece::Text(part) => text.extend_from_slice(part),
            Piece::Variable(name) => {
                names.push(name.clone());
                text.push(EXPANSION);
            }
            Piece::Derived(value) if value.kind == Kind::Integer => {
                names.extend_from_slice(&value.names);
                text.push(EXPANSION);
            }
            Piece::Integer => text.push(EXPANSION),
            Piece::Derived(_) | Piece::Unknown => return None,
        }
    }
    Some((text, names))
}

/// The variables that an expression reads, whether by `$x` or by `x`.
pub(super) fn expression(word: &Lexeme) -> Value {
    let Some((text, mut names)) = flattened(word) else {
        return Value::of_kind(Kind::Unknown);
    };
    for (name, start) in identifiers(&text) {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        let after = text.get(start + name.len());
        // A name that is put together from an expansion and text.
        if before == Some(&EXPANSION) || after == Some(&EXPANSION) {
            return Value::of_kind(Kind::Unknown);
        }
        // What is assigned to is not read.
        let behind = text.get(start + name.len()..).unwrap_or_default();
        let behind = behind.trim_ascii_start();
        if !behind.starts_with(b"=") || behind.starts_with(b"==") {
            names.push(name);
        }
    }
    Value {
        names,
        ..Value::of_kind(Kind::Integer)
    }
}

/// Names in the text, with their offsets; not the letters of `0x1f` and `16#ff`.
fn identifiers(text: &[u8]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let start = at;
        let is_part = |b: &u8| is_identifier_byte(*b) || matches!(b, b'#' | b'@');
        if is_identifier_start(*byte) {
            at += text
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(|b| is_identifier_byte(**b))
                .count();
            let name =
                String::from_utf8_lossy(text.get(start..at).unwrap_or_default()).into_owned();
            found.push((name, start));
        } else if byte.is_ascii_digit() {
            at += text
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(|b| is_part(b))
                .count();
        } else {
            at += 1;
        }
    }
    found
}

/// Names that an expression assigns to: `x = …`, `x += …`, `x++`, `--x`, and `x[…] = …`.
pub(super) fn assigned_names(word: &Lexeme) -> Vec<String> {
    let Some((text, _)) = flattened(word) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, start) in identifiers(&text) {
        let before = text.get(..start).unwrap_or_default().trim_ascii_end();
        let after = text
            .get(start + name.len()..)
            .unwrap_or_default()
            .trim_ascii_start();
        let stepped = before.ends_with(b"++")
            || before.ends_with(b"--")
            || after.starts_with(b"++")
            || after.starts_with(b"--");
        let operator = after
            .iter()
            .take_while(|b| b"+-*/%<>&^|=".contains(b))
            .count();
        let operator = after.get(..operator).unwrap_or_default();
        let assigns = operator.ends_with(b"=") && !matches!(operator, b"==" | b"<=" | b">=")
            || operator.starts_with(b"=") && operator.get(1) != Some(&b'=');
        if stepped || assigns {
            found.push(name);
        }
    }
    found
}

//! Bytes of a terminal as plain text.

use std::{iter::Peekable, str::Chars};

/// The text of what a program wrote: valid UTF-8 (other bytes are shown as U+FFFD), without escape
/// sequences and control characters. Newlines, tabs and lone carriage returns stay, `\r\n` becomes `\n`.
///
/// Understood are CSI, OSC (hyperlinks and titles), DCS, SOS, PM, APC, character sets and two-character
/// sequences (ECMA-48, and the terminator BEL). A string that is not terminated ends with its line,
/// so that a stray escape byte cannot swallow what follows.
#[must_use]
pub fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => escape(&mut chars),
            '\u{9b}' => control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => control_string(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\t' | '\r' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// What follows an ESC.
fn escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            control_string(chars);
        }
        // Character sets and the like: intermediate bytes, then a final one.
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => {
            chars.next();
        }
        Some(_) | None => {}
    }
}

/// The rest of a CSI sequence: parameters, intermediate bytes, a final one.
fn control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| ('0'..='?').contains(c)).is_some() {}
    while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
    chars.next_if(|c| ('@'..='~').contains(c));
}

/// The rest of a string: up to BEL, ST, or the end of the line.
fn control_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// The longest end of `text` that has at most `max` bytes.
pub(crate) fn end(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// How many bytes at the end of `bytes` are the beginning of a character that is not all there.
pub(crate) fn incomplete(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let length = match bytes[bytes.len() - back] {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return 0,
        };
        let rest = &bytes[bytes.len() - back..];
        let open = matches!(std::str::from_utf8(rest), Err(error) if error.error_len().is_none());
        return if back < length && open { back } else { 0 };
    }
    0
}

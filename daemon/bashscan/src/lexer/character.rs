//! Characters that are not what they look like.

use super::{Parser, Walk};
use crate::opaque::Reason;

/// Controls other than tab and newline, and characters that look like a space or like nothing.
/// bash splits words at space, tab and newline alone.
pub(crate) fn is_confusable(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && c != '\t' && c != '\n';
    }
    c.is_whitespace()
        || c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

impl Parser<'_, '_> {
    /// Appends the letters, digits, `_`, `-` and `/` that stand here: they mean nothing but themselves within a word.
    pub(super) fn plain_run(&mut self, into: &mut Vec<u8>) {
        let is_plain =
            |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/');
        let rest = self.rest();
        let run = rest.get(..rest.iter().take_while(is_plain).count());
        let run = run.unwrap_or_default();
        into.extend_from_slice(run);
        self.at += run.len();
    }

    /// Appends one unquoted character to a word.
    pub(super) fn plain_character(&mut self, into: &mut Vec<u8>) -> Walk {
        let Some(byte) = self.peek() else {
            return Ok(());
        };
        if matches!(byte, 0x20..=0x7e) {
            into.push(byte);
            self.at += 1;
            return Ok(());
        }
        let width = match byte {
            0..=0x7f => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        let bytes = self.rest().get(..width).unwrap_or(self.rest());
        let c = std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.chars().next());
        match c {
            Some(c) if !is_confusable(c) => {
                into.extend_from_slice(bytes);
                self.at += bytes.len();
                Ok(())
            }
            Some(c) => Err(self.stop(Reason::Character(c), self.at)),
            None => Err(self.syntax("a character that is not UTF-8")),
        }
    }
}

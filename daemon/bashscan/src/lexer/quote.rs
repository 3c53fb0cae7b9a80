//! Quotes: `'…'`, `"…"`, `$'…'`, backslash.

use super::{Lexeme, Parser, Quote, Walk};
use crate::opaque::Reason;

impl Parser<'_, '_> {
    /// `'…'`, from its opening quote.
    pub(super) fn single_quoted(&mut self, word: &mut Lexeme) -> Walk {
        let start = self.at + 1;
        let rest = self.text.get(start..).unwrap_or_default();
        let Some(length) = rest.iter().position(|b| *b == b'\'') else {
            return Err(self.syntax("a single quote that is not closed"));
        };
        word.quoted = true;
        word.text()
            .extend_from_slice(rest.get(..length).unwrap_or_default());
        self.at = start + length + 1;
        Ok(())
    }

    /// `"…"`, from its opening quote.
    pub(super) fn double_quoted(&mut self, word: &mut Lexeme) -> Walk {
        self.at += 1;
        word.quoted = true;
        // An empty pair of quotes makes a word of its own.
        word.text();
        self.deeper(|this| {
            loop {
                match this.peek() {
                    None => return Err(this.syntax("a double quote that is not closed")),
                    Some(b'"') => {
                        this.at += 1;
                        return Ok(());
                    }
                    Some(_) => this.quoted_run(word, Quote::Double)?,
                }
            }
        })
    }

    /// One character or expansion within double quotes or the body of a here-document.
    pub(crate) fn quoted_part(&mut self, word: &mut Lexeme, quote: Quote) -> Walk {
        match self.peek() {
            Some(b'$') => self.dollar(word, quote),
            Some(b'`') => self.backticks(word, quote),
            Some(b'\\') => {
                self.quoted_backslash(word, quote);
                Ok(())
            }
            Some(byte) => {
                word.text().push(byte);
                self.at += 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The same, for as many characters as there are without a meaning.
    pub(super) fn quoted_run(&mut self, word: &mut Lexeme, quote: Quote) -> Walk {
        let is_plain = |byte: u8| !matches!(byte, b'$' | b'`' | b'\\' | b'"');
        if self.peek().is_some_and(is_plain) {
            self.plain_run(word, is_plain);
            return Ok(());
        }
        self.quoted_part(word, quote)
    }

    /// The byte here, and those behind it that are of this kind.
    pub(super) fn plain_run(&mut self, word: &mut Lexeme, is_plain: impl Fn(u8) -> bool) {
        let rest = self.rest();
        let length = rest
            .iter()
            .skip(1)
            .position(|byte| !is_plain(*byte))
            .map_or(rest.len(), |behind| behind + 1);
        word.text()
            .extend_from_slice(rest.get(..length).unwrap_or_default());
        self.at += length;
    }

    /// A backslash where only some characters can be escaped.
    fn quoted_backslash(&mut self, word: &mut Lexeme, quote: Quote) {
        match self.peek_at(1) {
            Some(b'\n') => word.continued = true,
            Some(byte @ (b'$' | b'`' | b'\\')) => word.text().push(byte),
            Some(b'"') if quote == Quote::Double => word.text().push(b'"'),
            Some(byte) => word.text().extend_from_slice(&[b'\\', byte]),
            None => word.text().push(b'\\'),
        }
        self.at = (self.at + 2).min(self.text.len());
    }

    /// A backslash outside quotes.
    pub(super) fn backslash(&mut self, word: &mut Lexeme) -> Walk {
        self.at += 1;
        if self.peek() == Some(b'\n') {
            self.at += 1;
            word.continued = true;
            return Ok(());
        }
        word.quoted = true;
        if self.peek().is_none() {
            return Err(self.syntax("a backslash at the end"));
        }
        self.plain_character(word.text())
    }

    /// `$'…'`, from its dollar sign.
    pub(super) fn ansi_quoted(&mut self, word: &mut Lexeme) -> Walk {
        self.bash_only("$'…' in a POSIX shell")?;
        self.at += 2;
        word.quoted = true;
        word.text();
        loop {
            match self.peek() {
                None => return Err(self.syntax("a $' quote that is not closed")),
                Some(b'\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let byte = self.ansi_escape()?;
                    word.text().push(byte);
                }
                Some(byte) => {
                    word.text().push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// One escape of `$'…'`. Those that make something else than ASCII are refused: they depend on
    /// the locale, and a NUL ends the string.
    fn ansi_escape(&mut self) -> Walk<u8> {
        self.at += 1;
        let Some(letter) = self.peek() else {
            return Err(self.syntax("a $' quote that is not closed"));
        };
        self.at += 1;
        let byte = match letter {
            b'a' => 0x07,
            b'b' => 0x08,
            b'e' | b'E' => 0x1b,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' | b'?' => letter,
            b'0'..=b'7' => {
                self.at -= 1;
                self.digits(8, 3)?
            }
            b'x' => self.digits(16, 2)?,
            b'u' => self.digits(16, 4)?,
            b'U' => self.digits(16, 8)?,
            _ => return Err(self.syntax("an unusual escape in a $' quote")),
        };
        Ok(byte)
    }

    fn digits(&mut self, radix: u32, most: usize) -> Walk<u8> {
        let start = self.at;
        let mut value = 0_u32;
        while self.at - start < most
            && let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(radix))
        {
            value = value.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        match u8::try_from(value) {
            Ok(byte) if self.at > start && (2..0x7f).contains(&byte) => Ok(byte),
            _ => Err(self.stop(Reason::Syntax("an unusual escape in a $' quote"), start)),
        }
    }
}

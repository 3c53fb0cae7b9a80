//! The bearer token of `[mcp_http]`.

use std::{fmt, hint::black_box};

use crate::error::{Error, Result};

/// A bearer token. It is not shown in debug output and is compared in constant time.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Box<str>);

impl Token {
    /// A token as its file holds it; white space around it is dropped.
    ///
    /// Fails with [`Error::Token`] when nothing is left or it could not be sent in a header.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::Token { found: "is empty" });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::Token {
                found: "holds something else",
            });
        }
        Ok(Self(text.into()))
    }

    /// Whether `presented` is this token. The time it takes depends on the lengths alone.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        let (expected, presented) = (self.0.as_bytes(), presented.as_bytes());
        let mut difference = u8::from(expected.len() != presented.len());
        for (place, byte) in expected.iter().enumerate() {
            difference |= byte ^ presented.get(place).copied().unwrap_or(0);
        }
        black_box(difference) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_text_matches() {
        let token = Token::new(" s3cret\n").unwrap();
        assert!(token.matches("s3cret"));
        for other in ["", "s3cre", "s3crets", "S3cret", "\0\0\0\0\0\0"] {
            assert!(!token.matches(other), "{other:?}");
        }
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_refused_without_being_shown() {
        for text in ["", " \n", "two words", "k\u{e9}y", "a\0b"] {
            let error = Token::new(text).unwrap_err().to_string();
            assert!(text.trim().is_empty() || !error.contains(text), "{error}");
        }
        assert_eq!(format!("{:?}", Token::new("hidden").unwrap()), "Token(..)");
    }
}

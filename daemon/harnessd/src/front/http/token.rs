//! The bearer token of the TCP listener.

use std::{
    fmt, fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The least length of a token, in bytes: 16 random bytes in base 64 have 22.
const MIN_LENGTH: usize = 20;

/// A secret that opens the person's side over TCP. It shows itself nowhere.
#[derive(Clone)]
pub struct Token(Box<[u8]>);

/// Why a token cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token from {path}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Other users can read it.
    #[error("the token file {path} is readable by everybody: run chmod o= {path}")]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// It could be guessed or not be sent.
    #[error(
        "the token is not {MIN_LENGTH} or more printable characters without spaces: make one with `openssl rand -base64 32`"
    )]
    Weak,
}

impl Token {
    /// A token from its text; white space around it is not part of it.
    ///
    /// # Errors
    /// [`TokenError::Weak`].
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.len() < MIN_LENGTH || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Weak);
        }
        Ok(Self(text.as_bytes().into()))
    }

    /// A token from a file that others cannot read.
    ///
    /// # Errors
    /// Each variant of [`TokenError`].
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        let unreadable = |source| TokenError::Unreadable {
            path: path.to_owned(),
            source,
        };
        if fs::metadata(path).map_err(unreadable)?.mode() & 0o004 != 0 {
            return Err(TokenError::Exposed {
                path: path.to_owned(),
            });
        }
        Self::new(&fs::read_to_string(path).map_err(unreadable)?)
    }

    /// Whether `presented` is this token, in a time that does not tell how much of it is right.
    #[must_use]
    pub fn matches(&self, presented: &[u8]) -> bool {
        let pairs = self.0.iter().zip(presented);
        let difference = pairs.fold(0, |difference, (own, other)| difference | (own ^ other));
        std::hint::black_box(difference) == 0 && self.0.len() == presented.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::new(" 0123456789abcdefghij\n").unwrap();
        assert!(token.matches(b"0123456789abcdefghij"));
        for wrong in [
            &b""[..],
            b"0123456789abcdefghi",
            b"0123456789abcdefghijk",
            b"0123456789abcdefghiJ",
        ] {
            assert!(!token.matches(wrong));
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_short_or_unprintable_token_is_refused() {
        for text in [
            "",
            "short",
            "0123456789 abcdefghijk",
            "0123456789abcdefghij\u{7f}k",
            "ääääääääääääääääää",
        ] {
            assert!(
                matches!(Token::new(text), Err(TokenError::Weak)),
                "{text:?}"
            );
        }
    }
}

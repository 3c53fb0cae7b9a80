//! Tokens of the TCP fronts.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// Longer than any token; it bounds what a wrong path can make us read.
const TOKEN_MAX: u64 = 4096;

/// The least length of a token, in bytes: 16 random bytes in base 64 have 22.
const TOKEN_MIN: usize = 20;

/// A token. It is never shown, not even by `{:?}`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why a file gives no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token in {path}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Every user of this machine could read it.
    #[error("every user may read the token in {path} (mode {mode:04o}): run chmod o= on it", path = path.display())]
    WorldReadable {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// What the file holds is no token.
    #[error("{path} holds no token", path = path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with its text.
        source: UnfitToken,
    },
}

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnfitToken {
    /// It could be guessed.
    #[error("it is shorter than {TOKEN_MIN} characters: make one with `openssl rand -base64 32`")]
    Short,
    /// It cannot be sent in a header, or is not meant to be one.
    #[error("expected one line of visible ASCII characters without spaces")]
    Malformed,
}

impl Token {
    /// Reads one from a file; white space around it is not part of it.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let failed = |source| TokenError::Io {
            path: path.to_owned(),
            source,
        };
        let unfit = |source| TokenError::Unfit {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(unfit(UnfitToken::Malformed));
        }
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o007 != 0 {
            return Err(TokenError::WorldReadable {
                path: path.to_owned(),
                mode,
            });
        }
        let mut bytes = Vec::new();
        file.take(TOKEN_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        Self::parse(&bytes).map_err(unfit)
    }

    /// Takes one from the text of its file; white space around it is not part of it.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, UnfitToken> {
        let text = text.as_ref();
        let token = text.trim_ascii();
        let visible = token.iter().all(u8::is_ascii_graphic);
        if token.is_empty() || !visible || text.len() as u64 > TOKEN_MAX {
            return Err(UnfitToken::Malformed);
        }
        if token.len() < TOKEN_MIN {
            return Err(UnfitToken::Short);
        }
        String::from_utf8(token.to_vec())
            .map(Self)
            .map_err(|_| UnfitToken::Malformed)
    }

    /// Whether `presented` is this token, in a time that does not tell how much of it is right.
    #[must_use]
    pub fn matches(&self, presented: &[u8]) -> bool {
        let pairs = self.0.bytes().zip(presented);
        let difference = pairs.fold(0, |difference, (own, other)| difference | (own ^ other));
        std::hint::black_box(difference) == 0 && self.0.len() == presented.len()
    }

    /// The text that clients send.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

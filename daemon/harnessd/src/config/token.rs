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
    /// There is no token in it.
    #[error("{path} holds no token: expected one line of visible ASCII characters without spaces", path = path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
    },
}

impl Token {
    /// Reads one from a file; white space around it is not part of it.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let failed = |source| TokenError::Io {
            path: path.to_owned(),
            source,
        };
        let malformed = || TokenError::Malformed {
            path: path.to_owned(),
        };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(malformed());
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
        let token = bytes.trim_ascii();
        let visible = token.iter().all(u8::is_ascii_graphic);
        if token.is_empty() || !visible || bytes.len() as u64 > TOKEN_MAX {
            return Err(malformed());
        }
        String::from_utf8(token.to_vec())
            .map(Self)
            .map_err(|_| malformed())
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

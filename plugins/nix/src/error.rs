//! Why Nix is not asked, or has given nothing.

/// Why Nix is not asked, or has given nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It would be taken for an option.
    #[error("{value:?} is no {what}")]
    Value {
        /// What it should be.
        what: &'static str,
        /// As it was given.
        value: String,
    },
    /// Neither or both.
    #[error("give either an expression or an installable such as .#hello")]
    Source,
    /// It does not fit into a result.
    #[error("the result has more than {limit} bytes: ask for a part of it")]
    TooLarge {
        /// Bytes.
        limit: usize,
    },
    /// It was no JSON.
    #[error("nix has given something that cannot be read: {0}")]
    Output(#[from] serde_json::Error),
}

/// What this crate's functions give.
pub(crate) type Result<T> = std::result::Result<T, Error>;

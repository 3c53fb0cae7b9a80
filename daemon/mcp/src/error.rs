//! Errors of this crate.

use harness_model::Refusal;

/// What keeps a connection or the router from being set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bearer token could not be sent in an HTTP header.
    #[error(
        "the token must be 1 or more visible ASCII characters without spaces, but it {found}; write a new token file"
    )]
    Token {
        /// What is wrong with it; never the token itself.
        found: &'static str,
    },
    /// The harness line has another shape.
    #[error(
        r#"the first line names no view ({found}); send {{"harness":{{"group":"NAME"}}}}, {{"harness":{{"server":"NAME"}}}}, {{"harness":{{}}}} or no such line"#
    )]
    Opening {
        /// What was found instead.
        found: String,
    },
    /// The view does not exist.
    #[error("{0}")]
    View(#[from] Refusal),
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

//! Why a tool or a plugin has failed.

use std::{error, fmt};

/// A failure that the model reads. Every error becomes one by `?`, with its sources.
pub struct Error {
    message: String,
}

/// What tools give.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A failure: what is wrong, and what would be right.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// The same, said to have happened while something was done: `what: message`.
    #[must_use]
    pub fn context(self, what: impl fmt::Display) -> Self {
        Self::new(format!("{what}: {}", self.message))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

// `Error` is no `std::error::Error` itself, since this would overlap with `From<T> for T` then.
impl<E: error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self { message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(fmt::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("outer")
        }
    }

    impl error::Error for Outer {
        fn source(&self) -> Option<&(dyn error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_tells_its_sources_and_what_was_being_done() {
        let error = Error::from(Outer(fmt::Error)).context("reading it");
        let expected = format!("reading it: outer: {}", fmt::Error);
        assert_eq!(error.to_string(), expected);
    }
}

//! Why systemd is not asked, or has not done what it was asked.

/// Why systemd is not asked, or has not done what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No unit can have that name.
    #[error("{name:?} is no name of a unit: as in nginx.service, or nginx for short")]
    Name {
        /// As it was given.
        name: String,
    },
    /// There is none.
    #[error("there is no unit {name}: list shows those there are")]
    NotFound {
        /// As it was given.
        name: String,
    },
    /// The settings do not let it be changed.
    #[error("{name} is not among the units that may be changed here ({allowed})")]
    NotManaged {
        /// As it was given.
        name: String,
        /// The globs.
        allowed: String,
    },
    /// A setting or an input that is none.
    #[error("{value:?} is no {what}")]
    Value {
        /// What it should be.
        what: &'static str,
        /// As it was given.
        value: String,
    },
    /// A program has said something else than it should.
    #[error("{program} has given something that cannot be read: {source}")]
    Output {
        /// Which one.
        program: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// What this crate's functions give.
pub(crate) type Result<T> = std::result::Result<T, Error>;

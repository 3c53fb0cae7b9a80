//! What can keep a child from being confined.

use std::path::PathBuf;

use landlock::RulesetError;

/// Why a child cannot be confined as it should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DomainError {
    /// The kernel refused a ruleset.
    #[error("the Landlock rules cannot be made")]
    Ruleset(#[from] RulesetError),
    /// Each entry needs a rule.
    #[error(
        "{} has more than {most} entries, so nothing in it can be hidden: hide the whole directory, or move what is to be hidden", directory.display()
    )]
    TooManyEntries {
        /// Above a hidden path.
        directory: PathBuf,
        /// The most it may have.
        most: usize,
    },
    /// The rules are required.
    #[error("the sandbox is required")]
    Missing(Vec<String>),
}

//! What the engine writes down, before it acts.

use futures_util::future::BoxFuture;
use harness_model::{NewUnit, Transition, UnitId};

/// The record could not be written: a full disk, a read-only state directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record cannot be written: {0}")]
pub struct JournalError(pub String);

/// Where the engine writes. Each future resolves when the row is committed.
pub trait Journal: Send + Sync + 'static {
    /// A unit was made and its first run is about to start: after this, and not before, the process may exist.
    fn created(
        &self,
        unit: NewUnit,
        starting: Transition,
    ) -> BoxFuture<'_, Result<(), JournalError>>;

    /// A further run (an automatic restart, or somebody's) is about to start.
    fn starting(&self, transition: Transition) -> BoxFuture<'_, Result<(), JournalError>>;

    /// The state changed. When the unit has come to rest, its wake is written with it.
    fn changed(&self, transition: Transition) -> BoxFuture<'_, Result<(), JournalError>>;

    /// A change that need not survive a power cut and that nobody waits for, such as the pid of a run.
    fn noted(&self, transition: Transition);

    /// Someone who was waiting for the end of a unit has it (`delivered`), or went away without it.
    fn waited(&self, unit: &UnitId, delivered: bool);
}

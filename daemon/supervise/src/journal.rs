//! What the engine writes down, before it acts.

use futures_util::future::BoxFuture;
use harness_model::{InvocationId, Timestamp, UnitId, UnitKind, UnitSettings, UnitState};

/// A new unit, as it goes into the record before its first process.
#[derive(Debug, Clone, PartialEq)]
pub struct NewUnit {
    /// Its id.
    pub id: UnitId,
    /// What it is for.
    pub kind: UnitKind,
    /// The name its maker gave it.
    pub name: Option<String>,
    /// What people see: the command as given.
    pub command: String,
    /// Everything needed to run it again after a restart of the daemon, as JSON of [`crate::UnitSpec`].
    pub spec: String,
    /// Where it runs.
    pub cwd: String,
    /// The keys that were set.
    pub settings: UnitSettings,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A change of a unit's state.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The unit.
    pub unit: UnitId,
    /// What it is for.
    pub kind: UnitKind,
    /// Its state now.
    pub state: UnitState,
    /// The starts that the start limit still counts, oldest first, by the wall clock.
    pub recent_starts: Vec<Timestamp>,
    /// The last lines of stdout, when it has come to rest: a wake's body.
    pub last_lines: Option<String>,
    /// Somebody was waiting for this end, so no wake is due unless they turn out to be gone.
    pub awaited: bool,
}

/// The record could not be written: a full disk, a read-only state directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record cannot be written: {0}")]
pub struct JournalError(pub String);

/// Where the engine writes. Each method resolves when the row is on disk.
pub trait Journal: Send + Sync + 'static {
    /// A unit was made; nothing of it runs yet.
    fn created(&self, unit: NewUnit) -> BoxFuture<'_, Result<(), JournalError>>;

    /// A run is about to start: after this, and not before, the process may exist.
    fn starting(
        &self,
        unit: &UnitId,
        invocation: &InvocationId,
        transition: Transition,
    ) -> BoxFuture<'_, Result<(), JournalError>>;

    /// The state changed.
    fn changed(&self, transition: Transition) -> BoxFuture<'_, Result<(), JournalError>>;

    /// Someone who was waiting for the end of a unit has it (`delivered`), or went away without it.
    fn waited(&self, unit: &UnitId, delivered: bool);
}

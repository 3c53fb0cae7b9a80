//! What the groups need from the record.

use futures_util::future::BoxFuture;
use harness_model::{Page, Refusal, StoredUnit, TaskQuery, ToolsReport, UnitId, Wake, WakeId};

/// Units at rest, which the engine no longer holds.
pub trait UnitStore: Send + Sync + 'static {
    /// One unit, or `None` when there never was one of that id.
    fn unit(&self, id: &UnitId) -> BoxFuture<'_, Result<Option<StoredUnit>, Refusal>>;

    /// What a unit's script did by the command `tools`; none where it did nothing.
    fn report(&self, id: &UnitId) -> BoxFuture<'_, Result<Option<ToolsReport>, Refusal>>;

    /// A page of tasks, newest first.
    fn tasks(&self, query: TaskQuery) -> BoxFuture<'_, Result<Page<StoredUnit>, Refusal>>;
}

/// Wakes that nobody has acknowledged.
pub trait WakeStore: Send + Sync + 'static {
    /// The oldest due wakes, counted as delivered once more.
    fn take(&self, limit: u32) -> BoxFuture<'_, Result<Vec<Wake>, Refusal>>;

    /// Acknowledges; gives back those that existed and were not acknowledged before.
    fn acknowledge(&self, ids: Vec<WakeId>) -> BoxFuture<'_, Result<Vec<WakeId>, Refusal>>;

    /// Resolves when a wake has become due since this was called.
    fn arrival(&self) -> BoxFuture<'_, ()>;
}

//! What the tool groups need from the record.

use futures_util::future::BoxFuture;
use harness_execute::store::UnitStore;
use harness_model::{Page, Refusal, StoredUnit, TaskQuery, ToolsReport, UnitId};
use harness_record::Record;

use crate::wakes::unavailable;

/// The record as the tool groups see it.
pub(crate) struct RecordStore(pub(crate) Record);

impl UnitStore for RecordStore {
    fn unit(&self, id: &UnitId) -> BoxFuture<'_, Result<Option<StoredUnit>, Refusal>> {
        let id = id.clone();
        Box::pin(async move { self.0.unit(&id).await.map_err(|error| unavailable(&error)) })
    }

    fn report(&self, id: &UnitId) -> BoxFuture<'_, Result<Option<ToolsReport>, Refusal>> {
        let id = id.clone();
        Box::pin(async move {
            let report = self.0.report(&id).await;
            let report = report.map_err(|error| unavailable(&error))?;
            Ok(report.map(|(_, report)| report))
        })
    }

    fn tasks(&self, query: TaskQuery) -> BoxFuture<'_, Result<Page<StoredUnit>, Refusal>> {
        Box::pin(async move {
            self.0
                .tasks(query)
                .await
                .map_err(|error| unavailable(&error))
        })
    }
}

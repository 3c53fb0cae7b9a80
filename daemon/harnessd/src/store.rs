//! What the tool groups need from the record.

use futures_util::future::BoxFuture;
use harness_execute::store::UnitStore;
use harness_model::{Refusal, StoredUnit, UnitId, UnitKind, UnitQuery};
use harness_record::Record;

use crate::wakes::unavailable;

/// The record as the tool groups see it.
pub(crate) struct RecordStore(pub(crate) Record);

impl UnitStore for RecordStore {
    fn unit(&self, id: &UnitId) -> BoxFuture<'_, Result<Option<StoredUnit>, Refusal>> {
        let id = id.clone();
        Box::pin(async move { self.0.unit(&id).await.map_err(|error| unavailable(&error)) })
    }

    fn tasks(&self, before: Option<i64>, limit: u32) -> BoxFuture<'_, Result<(Vec<StoredUnit>, Option<i64>), Refusal>> {
        Box::pin(async move {
            let query = UnitQuery { kind: Some(UnitKind::Task), before, limit: Some(limit), ..UnitQuery::default() };
            let page = self.0.units(query).await.map_err(|error| unavailable(&error))?;
            Ok((page.items, page.next))
        })
    }
}

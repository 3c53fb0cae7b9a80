//! What the tool groups need from the record.

use futures_util::future::BoxFuture;
use harness_execute::store::UnitStore;
use harness_model::{Page, Refusal, StoredUnit, UnitId, UnitKind};
use harness_record::{Record, UnitQuery};

use crate::wakes::unavailable;

/// The record as the tool groups see it.
pub(crate) struct RecordStore(pub(crate) Record);

impl UnitStore for RecordStore {
    fn unit(&self, id: &UnitId) -> BoxFuture<'_, Result<Option<StoredUnit>, Refusal>> {
        let id = id.clone();
        Box::pin(async move { self.0.unit(&id).await.map_err(|error| unavailable(&error)) })
    }

    fn tasks(
        &self,
        before: Option<i64>,
        limit: u32,
    ) -> BoxFuture<'_, Result<Page<StoredUnit>, Refusal>> {
        Box::pin(async move {
            let query = UnitQuery {
                kind: Some(UnitKind::Task),
                before,
                limit,
                live: None,
            };
            let page = self
                .0
                .units(query)
                .await
                .map_err(|error| unavailable(&error))?;
            Ok(Page {
                items: page.items,
                next: page.next,
            })
        })
    }
}

//! `list`: tasks, newest first.

use harness_model::{Outcome, Page, Refusal, StoredUnit, TaskStatus};

use super::{Bash, input, render, status};

impl Bash {
    /// A page of tasks.
    ///
    /// # Errors
    /// The record cannot be read.
    pub async fn page(&self, before: Option<i64>, limit: u32) -> Result<Page<TaskStatus>, Refusal> {
        let page = self.store.tasks(before, limit).await?;
        Ok(Page {
            items: page
                .items
                .iter()
                .map(|stored| self.freshest(stored))
                .collect(),
            next: page.next,
        })
    }

    pub(super) async fn list(&self, input: input::List) -> Outcome {
        let page = self.page(input.before, input.limit).await?;
        Ok(render::list(&page.items, page.next))
    }

    /// The engine knows a live unit's state better than the record.
    fn freshest(&self, stored: &StoredUnit) -> TaskStatus {
        match self.live(&stored.unit.id) {
            Some(handle) => status::live_status(&handle),
            None => status::task_status(stored),
        }
    }
}

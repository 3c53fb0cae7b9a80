//! `list`: tasks, newest first.

use harness_model::{Outcome, Page, Refusal, StoredUnit, TaskQuery, TaskStatus};

use super::{Bash, input, render, status};

impl Bash {
    /// A page of tasks.
    ///
    /// # Errors
    /// The record cannot be read.
    pub async fn page(&self, query: TaskQuery) -> Result<Page<TaskStatus>, Refusal> {
        let page = self.store.tasks(query).await?;
        let tasks = page.items.iter().map(|stored| self.freshest(stored));
        // One that has changed since the record was asked is not what was asked for.
        let asked_for = |task: &TaskStatus| query.state.is_none_or(|state| task.status == state);
        Ok(Page {
            items: tasks.filter(asked_for).collect(),
            next: page.next,
        })
    }

    pub(super) async fn list(&self, input: input::List) -> Outcome {
        let query = TaskQuery {
            limit: Some(input.limit),
            before: input.before,
            state: None,
        };
        let page = self.page(query).await?;
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

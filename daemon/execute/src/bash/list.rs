//! `list`: tasks, newest first.

use harness_model::{Outcome, Refusal, StoredUnit, TaskStatus};

use super::{Bash, input, render, status};

impl Bash {
    /// A page of tasks and the cursor of the next one.
    ///
    /// # Errors
    /// The record cannot be read.
    pub async fn page(&self, before: Option<i64>, limit: u32) -> Result<(Vec<TaskStatus>, Option<i64>), Refusal> {
        let (stored, next) = self.store.tasks(before, limit).await?;
        Ok((stored.iter().map(|stored| self.freshest(stored)).collect(), next))
    }

    pub(super) async fn list(&self, input: input::List) -> Outcome {
        let (tasks, next) = self.page(input.before, input.limit).await?;
        Ok(render::list(&tasks, next))
    }

    /// The engine knows a live unit's state better than the record.
    fn freshest(&self, stored: &StoredUnit) -> TaskStatus {
        match self.live(&stored.unit.id) {
            Some(handle) => status::live_status(&handle),
            None => status::task_status(stored),
        }
    }
}

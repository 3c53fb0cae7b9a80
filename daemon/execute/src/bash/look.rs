//! Tools that look at one task or act on it.

use std::time::Duration;

use harness_model::{
    CallContext, ErrorCode, Outcome, OutputChunk, REDACTED, Refusal, StoredUnit, Stream,
    TaskStatus, ToolOutput, UnitId, UnitKind,
};
use harness_supervise::{Ending, UnitError, UnitHandle, UnitSpec, output};
use serde_json::json;

use super::{Bash, input, render, status};

impl Bash {
    /// The task's status, waiting for its end up to `wait`; an end that was waited for needs no wake.
    ///
    /// # Errors
    /// No such task, or the record cannot be read.
    pub async fn status_of(&self, id: &UnitId, wait: Duration) -> Result<TaskStatus, Refusal> {
        let (status, ending) = self.awaited(id, wait).await?;
        if let Some(ending) = ending {
            ending.delivered();
        }
        Ok(status)
    }

    async fn awaited(
        &self,
        id: &UnitId,
        wait: Duration,
    ) -> Result<(TaskStatus, Option<Ending>), Refusal> {
        let Some(handle) = self.live(id) else {
            let status = status::task_status(&self.stored(id).await?);
            return Ok((self.reported(status).await, None));
        };
        let ending = if wait.is_zero() {
            None
        } else {
            handle.wait(wait).await
        };
        Ok((self.reported(status::live_status(&handle)).await, ending))
    }

    /// With what its script did by `tools`, when it was stopped or failed: a person or the agent has to know what is
    /// done already. A record that cannot be read leaves it out.
    pub(super) async fn reported(&self, status: TaskStatus) -> TaskStatus {
        if !status.status.has_ended() || status.exit_code == Some(0) {
            return status;
        }
        let report = self.store.report(&status.id).await;
        let tools = report.ok().flatten().filter(|report| !report.is_empty());
        TaskStatus {
            tools: tools.map(Box::new),
            ..status
        }
    }

    pub(super) async fn status(&self, input: input::Status, context: &CallContext) -> Outcome {
        let wait = self.clamp(input.wait_seconds)?;
        let (status, ending) = self.awaited(&input.id, wait).await?;
        if let Some(ending) = ending {
            super::run::settle(context, ending);
        }
        Ok(render::full(&status))
    }

    /// Ends the task and gives its status once nothing of it is left.
    ///
    /// # Errors
    /// No such task; the keeper does not answer.
    pub async fn stop_task(&self, id: &UnitId) -> Result<TaskStatus, Refusal> {
        let Some(handle) = self.live(id) else {
            return self
                .stored(id)
                .await
                .map(|stored| status::task_status(&stored));
        };
        handle.stop().await.map_err(|error| refused(&error))?;
        Ok(status::live_status(&handle))
    }

    pub(super) async fn stop(&self, input: input::Stop) -> Outcome {
        self.stop_task(&input.id)
            .await
            .map(|status| render::full(&status))
    }

    /// Starts the task again: a running one is stopped first, one at rest keeps its id.
    ///
    /// # Errors
    /// No such task, or it cannot be started.
    pub async fn restart_task(&self, id: &UnitId) -> Result<TaskStatus, Refusal> {
        if let Some(handle) = self.live(id) {
            handle.restart().await.map_err(|error| refused(&error))?;
            return Ok(status::live_status(&handle));
        }
        let stored = self.stored(id).await?;
        if stored.unit.spec.contains(REDACTED) {
            let message = format!(
                "task {id} held a secret, which is not kept, so it cannot be run again from the record: make a new task"
            );
            return Err(Refusal::new(ErrorCode::ToolError, message));
        }
        let handle = self
            .engine
            .start_again(stored)
            .await
            .map_err(|error| super::run::not_started(&error))?;
        Ok(status::live_status(&handle))
    }

    pub(super) async fn restart(&self, input: input::Stop) -> Outcome {
        self.restart_task(&input.id)
            .await
            .map(|status| render::full(&status))
    }

    pub(super) async fn signal(&self, input: input::Kill) -> Outcome {
        let Some(handle) = self.live(&input.id) else {
            let status = status::task_status(&self.stored(&input.id).await?);
            let message = format!(
                "the task {} is at rest ({}): there is nothing to signal",
                input.id, status.status
            );
            return Err(Refusal::new(ErrorCode::ToolError, message));
        };
        handle
            .signal(input.signal, input.all)
            .await
            .map_err(|error| refused(&error))?;
        let text = format!("sent {} to task {}", input.signal, input.id);
        Ok(ToolOutput::new(
            text,
            json!({ "id": input.id, "signal": input.signal }),
        ))
    }

    /// A piece of the task's output.
    ///
    /// # Errors
    /// No such task, or its file is gone.
    pub async fn output_of(
        &self,
        id: &UnitId,
        stream: Stream,
        offset: u64,
        limit: u32,
    ) -> Result<OutputChunk, Refusal> {
        let (spec, ended) = self.spec_of(id).await?;
        let path = match stream {
            Stream::Stdout => &spec.output.stdout,
            Stream::Stderr => &spec.output.stderr,
        };
        let piece = output::read(path, offset, limit as usize).map_err(|error| {
            let message = format!("cannot read {}: {error}", path.display());
            Refusal::new(ErrorCode::ToolError, message)
        })?;
        let eof = ended && piece.next_offset >= piece.bytes;
        Ok(OutputChunk {
            id: id.clone(),
            stream,
            offset: piece.offset,
            next_offset: piece.next_offset,
            bytes: piece.bytes,
            text: piece.text,
            gap: piece.gap,
            eof,
        })
    }

    pub(super) async fn output(&self, input: input::Output) -> Outcome {
        let stream = input.stream.unwrap_or(Stream::Stdout);
        let chunk = self
            .output_of(&input.id, stream, input.offset, input.limit)
            .await?;
        Ok(ToolOutput::new(chunk.text.clone(), json!(chunk)))
    }

    /// The specification of a task and whether it has ended.
    ///
    /// # Errors
    /// No such task.
    pub async fn spec_of(&self, id: &UnitId) -> Result<(UnitSpec, bool), Refusal> {
        if let Some(handle) = self.live(id) {
            return Ok((handle.spec().clone(), handle.state().is_final()));
        }
        let stored = self.stored(id).await?;
        let spec = serde_json::from_str(&stored.unit.spec).map_err(|error| {
            Refusal::new(
                ErrorCode::Unavailable,
                format!("the record of task {id} is of another version: {error}"),
            )
        })?;
        Ok((spec, true))
    }

    /// The live unit of that id, if it is a task.
    #[must_use]
    pub fn live(&self, id: &UnitId) -> Option<UnitHandle> {
        self.engine
            .get(id)
            .filter(|handle| handle.spec().kind == UnitKind::Task)
    }

    /// The task at rest of that id.
    async fn stored(&self, id: &UnitId) -> Result<StoredUnit, Refusal> {
        let stored = self.store.unit(id).await?;
        let task = stored.filter(|stored| stored.unit.kind == UnitKind::Task);
        task.ok_or_else(|| {
            let message = format!("there is no task {id}: `list` shows the ids");
            Refusal::new(ErrorCode::UnknownCommand, message)
        })
    }
}

pub(super) fn refused(error: &UnitError) -> Refusal {
    let message = error.to_string();
    Refusal::new(ErrorCode::ToolError, message)
}

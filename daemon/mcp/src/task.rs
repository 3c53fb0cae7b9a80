//! Tasks of the extension `io.modelcontextprotocol/tasks` (SEP-2663).
//!
//! rmcp's own task manager keeps tasks in memory and loses them with the process, so `tasks/*` go
//! to the backend, whose record survives.

use harness_model::{ErrorCode, Refusal, TaskState};
use rmcp::model::{
    DetailedTask, ErrorData, GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus,
};
use serde_json::Value;

use crate::{backend::TaskHandle, convert};

/// How long a client should wait before it asks again, in milliseconds.
const POLL_INTERVAL_MS: u64 = 1000;

/// The task without its result, as `tools/call` answers it.
pub(crate) fn summary(handle: &TaskHandle) -> Task {
    let mut task = Task::new(
        handle.id.clone(),
        status(handle.state),
        handle.created_at.to_string(),
        handle.updated_at.to_string(),
    )
    .with_poll_interval_ms(POLL_INTERVAL_MS);
    if !handle.message.is_empty() {
        task = task.with_status_message(handle.message.clone());
    }
    task
}

/// The task with its result, as `tasks/get` answers it.
pub(crate) fn detailed(handle: TaskHandle) -> GetTaskResult {
    let task = summary(&handle);
    let payload = match handle.state {
        TaskState::Pending | TaskState::Running => TaskPayload::Working,
        TaskState::Stopped => TaskPayload::Cancelled,
        TaskState::Done | TaskState::TimedOut => match handle.output {
            Some(output) => TaskPayload::Completed {
                result: object(&convert::result(output)),
            },
            None => failed(&handle.message),
        },
        TaskState::Interrupted => failed(&handle.message),
    };
    GetTaskResult::new(DetailedTask::new(task, payload))
}

fn status(state: TaskState) -> TaskStatus {
    match state {
        TaskState::Pending | TaskState::Running => TaskStatus::Working,
        TaskState::Done | TaskState::TimedOut => TaskStatus::Completed,
        TaskState::Interrupted => TaskStatus::Failed,
        TaskState::Stopped => TaskStatus::Cancelled,
    }
}

fn failed(message: &str) -> TaskPayload {
    let refusal = Refusal::new(ErrorCode::OutcomeUnknown, message);
    let error = ErrorData::internal_error(refusal.message.clone(), Some(refusal.to_json()));
    TaskPayload::Failed {
        error: object(&error),
    }
}

fn object(value: &impl serde::Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => JsonObject::new(),
    }
}

//! Results as text for the model: short, the outcome first.

use std::fmt::Write as _;

use harness_model::{Gap, StreamStatus, TaskState, TaskStatus, ToolOutput};
use serde_json::json;

/// What `run` says of a task that goes on.
pub(super) fn started(status: &TaskStatus) -> ToolOutput {
    ToolOutput::new(format!("task started: id={}", status.id), json!(status))
}

/// A full status, as `run` and `status` give it.
#[must_use]
pub fn full(status: &TaskStatus) -> ToolOutput {
    let mut text = headline(status);
    section(&mut text, "stdout", &status.stdout);
    section(&mut text, "stderr", &status.stderr);
    ToolOutput::new(text, json!(status))
}

/// Many tasks, a line each.
pub(super) fn list(tasks: &[TaskStatus], next: Option<i64>) -> ToolOutput {
    let mut text = if tasks.is_empty() {
        "no tasks".to_owned()
    } else {
        String::new()
    };
    for task in tasks {
        let name = task
            .name
            .as_deref()
            .map(|name| format!(" ({name})"))
            .unwrap_or_default();
        let command: String = task
            .cmd
            .chars()
            .take(100)
            .collect::<String>()
            .escape_debug()
            .to_string();
        let _infallible = writeln!(text, "{}{name}: {}: {command}", task.id, outcome(task));
    }
    let tasks: Vec<_> = tasks.iter().map(brief).collect();
    ToolOutput::new(text.trim_end(), json!({ "tasks": tasks, "next": next }))
}

/// A task without its output.
fn brief(task: &TaskStatus) -> serde_json::Value {
    json!({
        "id": task.id, "name": task.name, "cmd": task.cmd, "status": task.status, "exit_code": task.exit_code,
        "signal": task.signal, "result": task.result, "active_state": task.active_state,
        "sub_state": task.sub_state, "restarts": task.restarts, "duration_secs": task.duration_secs,
    })
}

/// The outcome in one line, and what is to be known beside it.
#[must_use]
pub fn headline(status: &TaskStatus) -> String {
    let mut text = format!(
        "task {}: {}, {} s",
        status.id,
        outcome(status),
        status.duration_secs
    );
    if status.restarts > 0 {
        let _infallible = write!(text, ", restarted {} times", status.restarts);
    }
    if let Some(count) = status.left_over {
        let _infallible = write!(
            text,
            "\nleft {count} processes behind, which were ended with it"
        );
    }
    if !status.survivors.is_empty() {
        let _infallible = write!(
            text,
            "\nstill alive after the final signal: {}",
            status.survivors.join(", ")
        );
    }
    if let Some(note) = &status.note {
        let _infallible = write!(text, "\nnote: {note}");
    }
    if let Some(tools) = &status.tools {
        let _infallible = write!(text, "\ntools: {}", tools.headline());
    }
    if let Some(rules) = &status.containment {
        let _infallible = write!(text, "\nthe sandbox of this task: {rules}");
    }
    text
}

fn outcome(status: &TaskStatus) -> String {
    let how = match (status.exit_code, status.signal) {
        (Some(code), _) => format!(", exit code {code}"),
        (None, Some(signal)) => format!(", ended by {signal}"),
        (None, None) => String::new(),
    };
    match status.status {
        TaskState::Pending | TaskState::Running => {
            format!("{} ({})", status.status, status.sub_state)
        }
        TaskState::Done if status.exit_code.is_none() && status.signal.is_none() => {
            format!("failed ({})", status.result)
        }
        TaskState::Done | TaskState::TimedOut | TaskState::Interrupted | TaskState::Stopped => {
            format!("{}{how}", status.status)
        }
    }
}

fn section(text: &mut String, name: &str, stream: &StreamStatus) {
    if stream.tail.is_empty() {
        return;
    }
    let _infallible = write!(text, "\n{name}");
    let shown = stream.tail.len() as u64;
    if stream.bytes > shown + 512 || stream.gap.is_some() {
        let _infallible = write!(
            text,
            " (the end of {} bytes in {}{})",
            stream.bytes,
            stream.path,
            gap(stream.gap)
        );
    }
    let _infallible = write!(text, ":\n{}", stream.tail);
}

fn gap(gap: Option<Gap>) -> String {
    gap.map(|gap| format!("; {} bytes from {} on were freed", gap.length, gap.offset))
        .unwrap_or_default()
}

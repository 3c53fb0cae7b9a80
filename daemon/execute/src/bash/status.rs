//! A task's status, from the engine or from the record.

use std::{path::Path, time::SystemTime};

use harness_model::{
    ExitStatus, StoredUnit, StreamStatus, TaskState, TaskStatus, UnitId, UnitResult, UnitState,
};
use harness_supervise::{UnitHandle, UnitSpec, output};

use crate::containment;

/// How much of each stream a status shows, in bytes.
const TAIL: usize = 4096;

/// The status of a unit at rest.
///
/// A specification that does not parse (a database of another version) leaves the output out.
#[must_use]
pub fn task_status(stored: &StoredUnit) -> TaskStatus {
    let spec: Option<UnitSpec> = serde_json::from_str(&stored.unit.spec).ok();
    build(
        &stored.unit.id,
        stored.unit.name.clone(),
        stored.unit.command.clone(),
        spec.as_ref(),
        &stored.state,
    )
}

/// The status of a unit that the engine holds.
pub(super) fn live_status(handle: &UnitHandle) -> TaskStatus {
    let spec = handle.spec();
    build(
        handle.id(),
        spec.name.clone(),
        spec.command.clone(),
        Some(spec),
        &handle.state(),
    )
}

fn build(
    id: &UnitId,
    name: Option<String>,
    cmd: String,
    spec: Option<&UnitSpec>,
    state: &UnitState,
) -> TaskStatus {
    let ended = state.is_final();
    let exit = state.exit.as_ref().filter(|_| ended);
    let (exit_code, signal) = match exit.map(|exit| exit.status) {
        Some(ExitStatus::Exited(code)) => (Some(code), None),
        Some(ExitStatus::Signaled { signal, .. }) => (None, Some(signal)),
        None => (None, None),
    };
    let stdout = stream(spec.map(|spec| spec.output.stdout.as_path()), ended);
    let stderr = stream(spec.map(|spec| spec.output.stderr.as_path()), ended);
    let failed = ended && state.result != UnitResult::Success;
    let containment = spec.and_then(|spec| containment::met(&spec.sandbox, failed, &stderr.tail));
    TaskStatus {
        id: id.clone(),
        name,
        cmd,
        status: TaskState::of(state),
        exit_code,
        signal,
        result: state.result,
        active_state: state.active_state,
        sub_state: state.sub_state,
        restarts: state.restarts,
        duration_secs: duration(state),
        started_at: state.started_at,
        stdout,
        stderr,
        usage: exit.map(|exit| exit.usage),
        left_over: exit.map(|exit| exit.left_over).filter(|count| *count > 0),
        survivors: exit.map(|exit| exit.survivors.clone()).unwrap_or_default(),
        note: state.note.clone(),
        containment,
        tools: None,
    }
}

/// In seconds, to the millisecond: a single run by the monotonic clock, several by the wall clock.
fn duration(state: &UnitState) -> f64 {
    let span = match (&state.exit, state.started_at) {
        (Some(exit), _) if state.is_final() && state.restarts == 0 => {
            std::time::Duration::from_micros(exit.runtime_usec)
        }
        (_, Some(start)) => state
            .ended_at
            .unwrap_or_else(|| SystemTime::now().into())
            .since(start),
        (_, None) => std::time::Duration::ZERO,
    };
    (span.as_secs_f64() * 1000.0).round() / 1000.0
}

/// A file that is gone (somebody cleaned up) is an empty stream: the task's outcome still stands.
fn stream(path: Option<&Path>, ended: bool) -> StreamStatus {
    let empty = |path: String| StreamStatus {
        tail: String::new(),
        path,
        bytes: 0,
        gap: None,
    };
    match path {
        None => empty(String::new()),
        Some(path) => {
            output::tail(path, TAIL, ended).unwrap_or_else(|_| empty(path.display().to_string()))
        }
    }
}

//! Between the engine's words and the protocol's.

use std::{os::fd::OwnedFd, time::Duration};

use harness_keeper::protocol;
use harness_model::UnitKind;
use harness_supervise::{SpawnError, SpawnRequest, Stdio, StopSequence};

/// The request on the wire, and the descriptors that go with it.
pub(super) fn spawn(request: SpawnRequest) -> Result<(protocol::Spawn, Vec<OwnedFd>), SpawnError> {
    let mut fds = Vec::new();
    let mut stream = |stdio| match stdio {
        Stdio::Null => protocol::Stdio::Null,
        Stdio::Fd(fd) => {
            fds.push(fd);
            protocol::Stdio::Fd
        }
    };
    let (stdin, stdout, stderr) = (
        stream(request.stdin),
        stream(request.stdout),
        stream(request.stderr),
    );
    let cwd = request.cwd.into_os_string().into_string();
    let cwd = cwd.map_err(|cwd| SpawnError::Directory {
        directory: cwd.to_string_lossy().into_owned(),
        error: "its name is not UTF-8".to_owned(),
    })?;
    let spawn = protocol::Spawn {
        unit: request.unit,
        invocation: request.invocation,
        kind: request.kind.as_str().to_owned(),
        argv: request.argv,
        environment: request.environment,
        cwd,
        stdin,
        stdout,
        stderr,
        keep_pipes: false,
        limits: protocol::Limits {
            memory_max: request.limits.memory_max,
            tasks_max: request.limits.tasks_max,
            cpu_quota: request.limits.cpu_quota,
            oom_group: request.limits.oom_group,
            runtime_max_usec: request.limits.runtime_max.map(micros),
        },
        on_exit: sequence(&request.on_exit),
        sandbox: confined(request.kind).then_some(request.sandbox),
    };
    Ok((spawn, fds))
}

/// What runs for the agent is confined; MCP servers and hooks are the person's own programs.
fn confined(kind: UnitKind) -> bool {
    match kind {
        UnitKind::Task | UnitKind::Shell | UnitKind::Turn | UnitKind::PluginHost => true,
        UnitKind::McpServer | UnitKind::Hook => false,
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

pub(super) fn sequence(sequence: &StopSequence) -> protocol::StopSequence {
    protocol::StopSequence {
        kill_mode: sequence.kill_mode,
        kill_signal: sequence.kill_signal,
        timeout_usec: sequence.timeout.map(micros),
        final_kill_signal: sequence.final_kill_signal,
    }
}

pub(super) fn error(failure: protocol::Failure) -> SpawnError {
    use protocol::Failure;
    match failure {
        Failure::NoSuchProgram { program } => SpawnError::NoSuchProgram { program },
        Failure::Directory { directory, error } => SpawnError::Directory { directory, error },
        Failure::System {
            step,
            error,
            retryable,
        } => SpawnError::System {
            step,
            error,
            retryable,
        },
        Failure::Sandbox { missing } => SpawnError::Sandbox { missing },
        other @ (Failure::Unsupported { .. }
        | Failure::Invalid { .. }
        | Failure::Version { .. }
        | Failure::Exists { .. }
        | Failure::NotFound { .. }) => SpawnError::System {
            step: "the request to the keeper".to_owned(),
            error: other.to_string(),
            retryable: false,
        },
    }
}

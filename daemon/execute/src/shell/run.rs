//! One command, from its start to its result.

use std::{path::Path, sync::PoisonError, time::Instant};

use harness_model::{
    Call, CallContext, ErrorCode, ExitStatus, Outcome, Refusal, ToolsReport, UnitId, UnitKind,
    UnitState,
};
use harness_supervise::{Engine, OutputFiles, UnitHandle, UnitSpec};
use serde_json::json;
use tokio::runtime;

use super::{
    Shell, ShellSettings, directory, identity,
    input::Prepared,
    live::Relay,
    result::{Captured, ShellResult},
};
use crate::{containment, group, script};

/// The least that an output file may take on disk: its beginning then holds all that a result shows.
const OUTPUT_LEAST: u64 = 4 << 20;

/// Stops the command when its call is taken back.
struct Stop {
    engine: Engine,
    unit: UnitId,
}

impl Drop for Stop {
    fn drop(&mut self) {
        // One that has come to rest has left the engine.
        let Some(handle) = self.engine.get(&self.unit) else {
            return;
        };
        // Without a runtime the daemon is going down, and the next one ends what it finds.
        if let Ok(runtime) = runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = handle.stop().await {
                    tracing::warn!(unit = %handle.id(), %error, "a command whose call was taken back cannot be stopped");
                }
            });
        }
    }
}

impl Shell {
    pub(super) async fn run(&self, call: &Call, context: &CallContext) -> Outcome {
        let settings = self.settings();
        let input: Prepared = group::input(call)?;
        let (unit, spec) = specify(&settings, &input, call)?;
        let begun = Instant::now();
        let guard = Stop {
            engine: self.engine.clone(),
            unit: unit.clone(),
        };
        let started = self.engine.start(unit, spec).await;
        let handle = started
            .map_err(|error| Refusal::new(ErrorCode::Unavailable, error.to_string()).retryable())?;
        let state = self.end(call, &handle).await;
        drop(guard);
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let files = &handle.spec().output;
        let ended = Ended {
            state: &state,
            files,
            duration_ms,
        };
        let exit = ended.exit(&input)?;
        let captured = (|| {
            Ok((
                Captured::read(&files.stdout)?,
                Captured::read(&files.stderr)?,
            ))
        })();
        let (stdout, stderr) = captured.map_err(|error: std::io::Error| {
            let message = format!("the command ended, but its output cannot be read: {error}");
            Refusal::new(ErrorCode::ToolError, message)
        })?;
        forget(&files.stdout, stdout.file.is_some());
        forget(&files.stderr, stderr.file.is_some());
        let (exit_code, signal) = match exit {
            ExitStatus::Exited(code) => (Some(code), None),
            ExitStatus::Signaled { signal, .. } => (None, Some(signal)),
        };
        let failed = exit_code != Some(0);
        let containment = containment::met(&handle.spec().sandbox, failed, &stderr.text);
        let tools = self.reported(handle.id(), failed).await;
        let left_over = state.exit.as_ref().map(|exit| exit.left_over);
        let result = ShellResult {
            stdout: stdout.text,
            stderr: stderr.text,
            exit_code,
            signal,
            duration_ms,
            identity: identity::line(&self.system, &input.shell),
            stdout_file: stdout.file,
            stderr_file: stderr.file,
            left_over: left_over.filter(|count| *count > 0),
            containment,
            tools,
        };
        Ok(result.render(self.is_first(context)))
    }

    /// What a script that was stopped or failed did by `tools`; a record that cannot be read leaves it out.
    async fn reported(&self, unit: &UnitId, failed: bool) -> Option<ToolsReport> {
        if !failed {
            return None;
        }
        let report = self.store.report(unit).await.ok().flatten();
        report.filter(|report| !report.is_empty())
    }

    /// Waits for the end; what is written meanwhile is handed on to those who watch.
    async fn end(&self, call: &Call, handle: &UnitHandle) -> UnitState {
        let mut relay = Relay::new(&*self.live, &call.id, handle.id(), &handle.spec().output);
        let state = tokio::select! {
            state = handle.wait_end() => state,
            () = relay.follow() => handle.wait_end().await,
        };
        relay.finish();
        state
    }

    fn is_first(&self, context: &CallContext) -> bool {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_first(&context.session)
    }
}

fn specify(
    settings: &ShellSettings,
    input: &Prepared,
    call: &Call,
) -> Result<(UnitId, UnitSpec), Refusal> {
    let cwd = directory::enter(&settings.workspace, &input.cwd)?;
    let unit = UnitId::generate();
    let file = |end: &str| settings.output_directory.join(format!("{unit}.{end}"));
    let output = OutputFiles {
        stdout: file("out"),
        stderr: file("err"),
        max_bytes: settings.output_max.max(OUTPUT_LEAST),
    };
    let spec = UnitSpec {
        kind: UnitKind::Shell,
        name: None,
        call: Some(call.id.clone()),
        command: input.cmd.clone(),
        argv: script::argv(&input.shell, &input.cmd),
        environment: settings.variables(),
        sandbox: settings.confine(input, &cwd, call.allowance.as_ref()),
        cwd,
        settings: settings.unit(input.timeout_ms),
        output,
        stdin: None,
    };
    Ok((unit, spec))
}

/// Output that the result holds whole needs no file.
fn forget(path: &Path, is_named: bool) {
    if !is_named && let Err(error) = std::fs::remove_file(path) {
        tracing::debug!(path = %path.display(), %error, "an output file stays");
    }
}

/// A command that has come to rest.
struct Ended<'a> {
    state: &'a UnitState,
    files: &'a OutputFiles,
    duration_ms: u64,
}

impl Ended<'_> {
    /// How it exited, unless it was ended by its limit, could not be started, or nobody knows.
    fn exit(&self, input: &Prepared) -> Result<ExitStatus, Refusal> {
        if self.state.runtime_exceeded {
            return Err(self.timed_out(input.timeout_ms));
        }
        if let Some(exit) = &self.state.exit {
            return Ok(exit.status);
        }
        let note = self.state.note.as_deref().unwrap_or("no reason is known");
        Err(if self.state.interrupted {
            let message = format!("nobody knows how the command ended: {note}");
            Refusal::new(ErrorCode::OutcomeUnknown, message)
        } else {
            let message = format!("the command could not be started: {note}");
            Refusal::new(ErrorCode::ToolError, message)
        })
    }

    fn timed_out(&self, timeout_ms: u64) -> Refusal {
        let message = format!(
            "ETIMEDOUT: the command was ended after {} ms, its limit is {timeout_ms} ms; what it wrote is in {} and {}. \
             Give it more time with timeoutMs, or run it in the background",
            self.duration_ms,
            self.files.stdout.display(),
            self.files.stderr.display()
        );
        let text = |path: &Path| {
            Captured::read(path)
                .map(|captured| captured.text)
                .unwrap_or_default()
        };
        Refusal::new(ErrorCode::ToolError, message).with_details(json!({
            "code": "ETIMEDOUT",
            "durationMs": self.duration_ms,
            "timeoutMs": timeout_ms,
            "stdout": text(&self.files.stdout),
            "stderr": text(&self.files.stderr),
            "stdoutFile": self.files.stdout,
            "stderrFile": self.files.stderr,
        }))
    }
}

//! `run`: a new task.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use harness_model::{
    Allowance, Call, CallContext, ErrorCode, Outcome, Progress, Refusal, RunInput, SandboxRules,
    TimeSpan, UnitId, UnitKind,
};
use harness_supervise::{Ending, OutputFiles, StartError, UnitHandle, UnitSpec, Waiter};
use serde_json::{Map, Value};

use super::{Bash, BashSettings, render, status};
use crate::{confine, group, script};

/// How long `run` waits when the call does not say, in seconds.
const DEFAULT_WAIT: f64 = 3.0;

/// One argument of a program may not be longer (`MAX_ARG_STRLEN` of the kernel, less its NUL).
pub(crate) const LONGEST_COMMAND: usize = 131_071;

impl Bash {
    pub(super) async fn run(&self, call: &Call, context: &CallContext) -> Outcome {
        let input: RunInput = group::input(call)?;
        let wait = self.clamp(input.wait_seconds.unwrap_or(DEFAULT_WAIT))?;
        let (handle, waiter) = self.start(input, call).await?;
        if let Some(progress) = context.progress.as_ref().filter(|_| !wait.is_zero()) {
            let message = Some(format!("task {} is running", handle.id()));
            progress(Progress {
                progress: 0.0,
                total: None,
                message,
            });
        }
        let ending = if wait.is_zero() {
            None
        } else {
            waiter.end(wait).await
        };
        let status = status::live_status(&handle);
        Ok(match ending {
            Some(ending) => {
                settle(context, ending);
                render::full(&self.reported(status).await)
            }
            None => render::started(&status),
        })
    }

    /// Records the task and starts it; the waiter waits from before the start.
    pub(super) async fn start(
        &self,
        input: RunInput,
        call: &Call,
    ) -> Result<(UnitHandle, Waiter), Refusal> {
        let settings = self.settings();
        let spec = specify(&settings, input, call.allowance.as_ref())?;
        let running = self.engine.count(UnitKind::Task);
        if running >= settings.max_tasks {
            let message = format!(
                "{running} tasks run, and max_tasks allows no more: stop one, or wait for one to end"
            );
            return Err(Refusal::new(ErrorCode::Unavailable, message).retryable());
        }
        let id = UnitId::generate();
        let output = OutputFiles {
            stdout: settings.output_directory.join(format!("{id}.out")),
            stderr: settings.output_directory.join(format!("{id}.err")),
            max_bytes: settings.output_max,
        };
        self.engine
            .start_awaited(
                id,
                UnitSpec {
                    output,
                    call: Some(call.id.clone()),
                    ..spec
                },
            )
            .await
            .map_err(|error| not_started(&error))
    }

    /// Seconds as a call gives them, no longer than the configuration allows.
    pub(super) fn clamp(&self, seconds: f64) -> Result<Duration, Refusal> {
        let max = self.settings().max_wait;
        if seconds.is_nan() || seconds < 0.0 {
            return Err(invalid(format!(
                "wait_seconds is {seconds}: it must be 0 or more"
            )));
        }
        Ok(Duration::try_from_secs_f64(seconds).map_or(max, |wait| wait.min(max)))
    }
}

/// The end has been told once the result has arrived, and else by a wake.
pub(super) fn settle(context: &CallContext, ending: Ending) {
    context.delivery.on_settled(move |delivered| {
        if delivered {
            ending.delivered();
        }
    });
}

/// What the input leaves inexact.
pub(super) fn prepare(
    settings: &BashSettings,
    input: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    let environment = (settings.environment)(&BTreeMap::new());
    let home = confine::variable(&environment, "HOME");
    confine::prepare(input, &settings.sandbox, home).map_err(invalid)
}

/// The rules that a task runs under.
pub(super) fn sandbox(
    settings: &BashSettings,
    input: &RunInput,
    allowance: Option<&Allowance>,
) -> Result<SandboxRules, Refusal> {
    let environment = (settings.environment)(&input.env);
    let cwd = directory(&settings.workspace, input.cwd.as_deref())?;
    let site = confine::Site {
        interpreter: Path::new(&settings.shell),
        search_path: confine::variable(&environment, "PATH").unwrap_or_default(),
        cwd: &cwd,
        workspace: &settings.workspace,
    };
    let request = input.sandbox.clone().unwrap_or_default();
    Ok(confine::rules(
        &settings.sandbox,
        &request,
        allowance,
        &site,
    ))
}

fn specify(
    settings: &BashSettings,
    input: RunInput,
    allowance: Option<&Allowance>,
) -> Result<UnitSpec, Refusal> {
    check_command(&input.cmd)?;
    let sandbox = sandbox(settings, &input, allowance)?;
    let mut unit = input.unit.unwrap_or_default();
    if let Some(seconds) = input.timeout_secs {
        let span = Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|span| !span.is_zero());
        let span =
            span.ok_or_else(|| invalid(format!("timeout_secs is {seconds}: it must be above 0")))?;
        unit.runtime_max_sec = Some(TimeSpan::from(span));
    }
    let unit = unit.over(&settings.unit);
    unit.resolve().map_err(|error| invalid(error.to_string()))?;
    for (name, value) in &input.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(invalid(format!(
                "env: {name:?} cannot be a variable: no `=` and no NUL may be in it"
            )));
        }
    }
    Ok(UnitSpec {
        kind: UnitKind::Task,
        call: None,
        name: input.name.filter(|name| !name.is_empty()),
        argv: script::argv(&settings.shell, &input.cmd),
        command: input.cmd,
        environment: (settings.environment)(&input.env),
        cwd: directory(&settings.workspace, input.cwd.as_deref())?,
        settings: unit,
        output: OutputFiles {
            stdout: PathBuf::new(),
            stderr: PathBuf::new(),
            max_bytes: settings.output_max,
        },
        stdin: None,
        sandbox,
    })
}

fn check_command(cmd: &str) -> Result<(), Refusal> {
    if cmd.trim().is_empty() {
        return Err(invalid("cmd is empty: give the command to run".to_owned()));
    }
    if cmd.contains('\0') {
        return Err(invalid(
            "cmd has a NUL character in it, which no command line can carry".to_owned(),
        ));
    }
    if cmd.len() > LONGEST_COMMAND {
        let message = format!(
            "cmd is {} bytes long, and the kernel passes at most {LONGEST_COMMAND} in one argument: write it to a file and run that",
            cmd.len()
        );
        return Err(invalid(message));
    }
    Ok(())
}

fn directory(workspace: &Path, cwd: Option<&str>) -> Result<PathBuf, Refusal> {
    let directory = cwd.map_or_else(|| workspace.to_owned(), |cwd| workspace.join(cwd));
    match std::fs::metadata(&directory) {
        Ok(metadata) if metadata.is_dir() => Ok(directory),
        Ok(_) => Err(invalid(format!(
            "cwd: {} is not a directory",
            directory.display()
        ))),
        Err(error) => Err(invalid(format!("cwd: {}: {error}", directory.display()))),
    }
}

fn invalid(message: String) -> Refusal {
    Refusal::new(ErrorCode::InvalidInput, message)
}

/// A unit that could not be made left nothing behind, so trying again is safe.
pub(super) fn not_started(error: &StartError) -> Refusal {
    let message = error.to_string();
    Refusal::new(ErrorCode::Unavailable, message).retryable()
}

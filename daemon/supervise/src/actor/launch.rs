//! Starting the process of a run.

use std::{fs::File, io, io::Seek, io::Write, os::fd::OwnedFd};

use harness_model::{ActiveState, InvocationId, SubState, UnitResult};
use rustix::{fs::MemfdFlags, pipe::PipeFlags};

use super::run::Actor;
use crate::{
    SpawnRequest, StartError, Stdio,
    environment::environment,
    handle::Command,
    output::{budget::Budget, open},
    spec::{stop_sequence, tree_limits},
    state::Event,
};

/// The daemon's ends of one run's pipes.
#[derive(Debug)]
pub struct Connection {
    /// The run.
    pub invocation: InvocationId,
    /// What is written here is the run's standard input.
    pub stdin: OwnedFd,
    /// The run's standard output.
    pub stdout: OwnedFd,
}

impl Actor {
    /// Opens the files, records the run, then starts its process. The answer is an event, unless
    /// nothing could be recorded of the unit's first run: then there is no unit.
    pub(super) async fn spawn(&mut self) {
        let request = self.request();
        if let Some(mut opening) = self.opening.take() {
            let begun = match request {
                Ok(request) => self
                    .record_opening(opening.new.take())
                    .await
                    .map(|()| request),
                Err(error) => Err(error),
            };
            match begun {
                Ok((request, connection)) => {
                    self.opened = Some(opening.reply);
                    self.launch(request, connection).await;
                }
                Err(error) => {
                    self.engine.forget(self.handle.id());
                    self.give_up(&error);
                    opening.reply.send(Err(error)).ok();
                    self.done = true;
                }
            }
            return;
        }
        let recorded = self.record_start().await;
        match (recorded, request) {
            (Ok(()), Ok((request, connection))) => self.launch(request, connection).await,
            (Err(error), _) => self.queue.push_front(Event::SpawnFailed(error.to_string())),
            (_, Err(error)) => self.queue.push_front(Event::SpawnFailed(error.to_string())),
        }
    }

    /// Whoever found the unit before it came to nothing sees an end.
    fn give_up(&self, error: &StartError) {
        self.handle.shared.state.send_modify(|shown| {
            shown.active_state = ActiveState::Failed;
            shown.sub_state = SubState::Failed;
            shown.result = UnitResult::Resources;
            shown.ended_at = Some(self.engine.clock.now().wall);
            shown.note = Some(error.to_string());
        });
    }

    async fn launch(&mut self, request: SpawnRequest, connection: Option<Connection>) {
        self.watch_output();
        self.publish();
        let event = match self.engine.spawner.spawn(request).await {
            Ok(spawned) => {
                self.listen(spawned.events);
                if let (Some(connections), Some(connection)) = (&self.connections, connection) {
                    // Nobody there: the run sees its input end.
                    connections.send(connection).ok();
                }
                Event::Spawned {
                    pid: spawned.pid,
                    started_at: spawned.started_at,
                    not_enforced: spawned.not_enforced,
                }
            }
            Err(error) => Event::SpawnFailed(error.to_string()),
        };
        self.queue.push_front(event);
    }

    fn request(&self) -> Result<(SpawnRequest, Option<Connection>), StartError> {
        let spec = self.handle.spec();
        spec.check()?;
        let unit = self.handle.id().clone();
        let invocation = match &self.machine.state().invocation {
            Some(invocation) => invocation.clone(),
            None => InvocationId::generate(),
        };
        let file = |path: &std::path::Path| {
            open::append(path).map_err(|source| StartError::Output {
                path: path.to_owned(),
                source,
            })
        };
        let pipes = |source| StartError::Output {
            path: "stdin or stdout".into(),
            source,
        };
        let (stdin, stdout, connection) = if self.connections.is_some() {
            let (child_reads, daemon_writes) = pipe().map_err(pipes)?;
            let (daemon_reads, child_writes) = pipe().map_err(pipes)?;
            let connection = Connection {
                invocation: invocation.clone(),
                stdin: daemon_writes,
                stdout: daemon_reads,
            };
            (Stdio::Fd(child_reads), child_writes, Some(connection))
        } else {
            let stdin = match &spec.stdin {
                Some(text) => Stdio::Fd(contents(text).map_err(pipes)?),
                None => Stdio::Null,
            };
            (stdin, file(&spec.output.stdout)?, None)
        };
        let own = match &self.engine.environment {
            Some(own) => own.variables(&unit, &invocation, spec),
            None => Vec::new(),
        };
        let policy = self.machine.policy();
        let request = SpawnRequest {
            environment: environment(spec, &invocation, own),
            unit,
            invocation,
            kind: spec.kind,
            argv: spec.argv.clone(),
            cwd: spec.cwd.clone(),
            stdin,
            stdout: Stdio::Fd(stdout),
            stderr: Stdio::Fd(file(&spec.output.stderr)?),
            limits: tree_limits(policy),
            on_exit: stop_sequence(policy),
            sandbox: spec.sandbox.clone(),
        };
        Ok((request, connection))
    }

    /// Keeps the output files within their budget from now on.
    pub(super) fn watch_output(&mut self) {
        if !self.budgets.is_empty() {
            return;
        }
        let files = &self.handle.spec().output;
        let mut paths = vec![&files.stderr];
        if files.stdout != files.stderr && self.connections.is_none() {
            paths.push(&files.stdout);
        }
        // A recorded form that cannot be read names no files.
        for path in paths
            .into_iter()
            .filter(|path| !path.as_os_str().is_empty())
        {
            let commands = self.handle.shared.commands.clone();
            let report = move |text: String| {
                // A unit at rest has no more use for it.
                commands.send(Command::Note(text)).ok();
            };
            match Budget::keep(path, files.max_bytes, report) {
                Ok(budget) => self.budgets.push(budget),
                Err(error) => {
                    tracing::error!(unit = %self.handle.id(), %error, "its output is not kept within its budget");
                    let text = format!("output_max does not hold: {error}");
                    self.queue.push_back(Event::Noted(text));
                }
            }
        }
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?)
}

/// A file in memory: it can be read to its end at any pace, and nobody has to write it.
fn contents(text: &str) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

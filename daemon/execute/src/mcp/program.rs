//! A server that is a program: its unit, its runs and their ends.

use std::{sync::Arc, time::Duration};

use harness_model::{ErrorCode, ExitStatus, Signal, SubState, UnitId, UnitResult, UnitState};
use harness_supervise::UnitHandle;
use tokio::sync::mpsc;

use super::{
    attend::Left,
    connection::{ConnectFailure, ConnectFault, Pipes},
    settings::Program,
    state::Phase,
    supervisor::{Command, Next, Supervisor, answer, code_of, stop},
};

/// How long a program whose connection has ended may take to end, too.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How soon after its connection a program that ends has ended.
const EXIT_FOLLOWS: Duration = Duration::from_secs(1);

/// One unit and the runs it has had.
struct ProgramLife {
    handle: UnitHandle,
    pipes: mpsc::UnboundedReceiver<Pipes>,
    /// A run was greeted, and its end is waited for.
    has_run: bool,
    was_ready: bool,
    /// Why its last run was ended from here.
    killed_for: Option<String>,
}

/// What follows a run.
enum Run {
    Began(Pipes),
    Over(UnitState),
    Asked(Option<Command>),
}

impl ProgramLife {
    /// Ends a run so that it counts as failed; the engine decides what follows. One that has ended by itself has its own
    /// reason.
    async fn kill(&mut self, why: String) {
        match self.handle.signal(Signal::KILL, true).await {
            Ok(()) => self.killed_for = Some(why),
            Err(error) => {
                tracing::debug!(unit = %self.handle.id(), %error, "an MCP server was gone already");
            }
        }
    }
}

impl Supervisor {
    pub(super) async fn live_as_program(&mut self, program: &Program) -> Next {
        let (sender, pipes) = mpsc::unbounded_channel();
        let id = UnitId::generate();
        let spec = program.spec(&self.shared.settings.name, &id);
        let unit = id.clone();
        self.shared.set(|state| state.unit = Some(unit));
        self.shared.end_stderr();
        let engine = self.shared.engine.clone();
        match engine.start_connected(id, spec, sender).await {
            Ok(handle) => {
                let mut life = ProgramLife {
                    handle,
                    pipes,
                    has_run: false,
                    was_ready: false,
                    killed_for: None,
                };
                self.live_with(&mut life).await
            }
            Err(error) => {
                self.park(
                    ErrorCode::Unavailable,
                    &format!("it cannot be started: {error}"),
                );
                Next::Rest
            }
        }
    }

    async fn live_with(&mut self, life: &mut ProgramLife) -> Next {
        loop {
            let pipes = match self.next_run(life).await {
                Run::Began(pipes) => pipes,
                Run::Over(state) => return self.conclude(&state, life),
                Run::Asked(command) => return self.obey(command, Some(&life.handle)).await,
            };
            let pid = life.handle.state().pid;
            let restarts = life.handle.state().restarts;
            self.shared.set(|state| {
                let first = matches!(state.phase, Phase::Starting { first: true });
                state.phase = Phase::Starting { first };
                state.pid = pid;
                state.restarts = state.restarts.max(restarts);
            });
            life.killed_for = None;
            life.has_run = true;
            let left = self.serve_run(life, pipes).await;
            match left {
                Ok(Left::Asked(command)) => return self.obey(command, Some(&life.handle)).await,
                Ok(Left::Idle) => {
                    self.stopped(false, Some("nobody called it for a while".to_owned()));
                    stop(&life.handle).await;
                    return Next::Rest;
                }
                Ok(Left::Ended(why)) => self.down(&why),
                Ok(Left::Unresponsive(why)) => {
                    self.down(&why);
                    life.kill(why).await;
                }
                Err(mut failure) => {
                    self.failures += 1;
                    if failure.kind == ConnectFault::Ended
                        && let Some(why) = end_of_run(&life.handle).await
                    {
                        failure.why = format!("before it said hello, {why}");
                    }
                    if self.is_hopeless(&failure) {
                        stop(&life.handle).await;
                        self.park(code_of(&failure), &failure.why);
                        return Next::Rest;
                    }
                    self.down(&failure.why);
                    life.kill(failure.why).await;
                }
            }
        }
    }

    /// Greets one run and looks after it.
    async fn serve_run(
        &mut self,
        life: &mut ProgramLife,
        pipes: Pipes,
    ) -> Result<Left, ConnectFailure> {
        let shared = Arc::clone(&self.shared);
        let invocation = pipes.invocation.clone();
        let mut changes = life.handle.changes();
        let over = async move {
            // Its main process is gone; what is left of its tree is being ended.
            let gone = changes.wait_for(|state| {
                state.invocation.as_ref() != Some(&invocation)
                    || !matches!(state.sub_state, SubState::Start | SubState::Running)
            });
            drop(gone.await);
        };
        tokio::pin!(over);
        let greeting = shared.greet(shared.connector.over_pipes(pipes));
        tokio::pin!(greeting);
        let mut greeted = loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Wanted) => {}
                    Some(Command::Start(reply)) => answer(reply),
                    command => return Ok(Left::Asked(command)),
                },
                greeted = &mut greeting => break greeted?,
                () = &mut over => {
                    return Err(ConnectFailure {
                        why: "it ended before it said hello".to_owned(),
                        kind: ConnectFault::Ended,
                    });
                }
            }
        };
        self.failures = 0;
        life.was_ready = true;
        let handle = life.handle.clone();
        let pid = handle.state().pid;
        shared.state.send_modify(|state| state.pid = pid);
        shared.welcome(&mut greeted);
        let settled = move || handle.reset_failed();
        Ok(self.attend(&mut greeted, over, settled).await)
    }

    /// Waits for the next run, or for the end of the unit.
    async fn next_run(&mut self, life: &mut ProgramLife) -> Run {
        let mut changes = life.handle.changes();
        let patience = tokio::time::sleep(LAST_WORDS);
        tokio::pin!(patience);
        let mut patient = true;
        let mut between = false;
        loop {
            let state = changes.borrow_and_update().clone();
            if state.is_final() && life.pipes.is_empty() {
                return Run::Over(state);
            }
            if state.sub_state == SubState::AutoRestart && !between {
                between = true;
                if life.killed_for.is_none() {
                    let why = self.shared.clean(self.with_stderr(&describe(&state)));
                    self.shared.set(|shown| shown.why = Some(why));
                }
                self.shared.end_stderr();
            }
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Wanted) => {}
                    command => return Run::Asked(command),
                },
                Some(pipes) = life.pipes.recv() => return Run::Began(pipes),
                _ = changes.changed() => {}
                () = &mut patience, if patient => {
                    patient = false;
                    if state.sub_state == SubState::Running && life.has_run {
                        life.kill("it went on after its connection had ended".to_owned()).await;
                    }
                }
            }
        }
    }

    /// The unit has come to rest by itself.
    fn conclude(&mut self, state: &UnitState, life: &mut ProgramLife) -> Next {
        let why = life.killed_for.take().unwrap_or_else(|| describe(state));
        if state.result == UnitResult::Success && life.was_ready {
            self.stopped(false, Some(why));
        } else {
            self.park(ErrorCode::Unavailable, &why);
        }
        Next::Rest
    }

    fn is_hopeless(&self, failure: &ConnectFailure) -> bool {
        let policy = self.shared.settings.reach.policy();
        let most = policy.map_or(1, |policy| policy.start_limit_burst);
        matches!(
            failure.kind,
            ConnectFault::Permanent | ConnectFault::Unauthorized
        ) || most > 0 && self.failures >= most
    }
}

/// How the run ended whose connection has, if that is known soon.
async fn end_of_run(unit: &UnitHandle) -> Option<String> {
    let mut changes = unit.changes();
    let ended = changes.wait_for(|state| state.exit.is_some() || state.is_final());
    let state = tokio::time::timeout(EXIT_FOLLOWS, ended).await.ok()?.ok()?;
    Some(describe(&state))
}

/// How a run ended, in words for a person.
fn describe(state: &UnitState) -> String {
    let status = match state.exit.as_ref().map(|exit| exit.status) {
        Some(ExitStatus::Exited(code)) => format!("exit code {code}"),
        Some(ExitStatus::Signaled { signal, .. }) => format!("signal {signal}"),
        None => "no exit status".to_owned(),
    };
    let note = state.note.as_ref();
    let note = note.map_or_else(String::new, |note| format!("; {note}"));
    format!("it ended with {status} (result {}){note}", state.result)
}

//! One server's life: started, greeted, looked after, started again, given up.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use harness_model::ErrorCode;
use harness_supervise::UnitHandle;
use tokio::sync::{mpsc, oneshot};

use super::{
    connection::{ConnectFailure, ConnectFault},
    server::Shared,
    settings::Reach,
    state::Phase,
};

/// What a handle asks of its supervisor. An answer that never comes means that the server has ended.
pub(super) enum Command {
    /// A call wants it: it is started if it does not run and nobody stopped it.
    Wanted,
    /// A person wants it.
    Start(oneshot::Sender<()>),
    /// A person does not want it.
    Stop(oneshot::Sender<()>),
    /// A person wants another one.
    Restart(oneshot::Sender<()>),
    /// It left the configuration.
    End(oneshot::Sender<()>),
}

/// What comes after one stretch of a server's life.
pub(super) enum Next {
    Live,
    Rest,
    End,
}

/// The task of one server.
pub(super) struct Supervisor {
    pub(super) shared: Arc<Shared>,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
    /// Greetings in a row that came to nothing.
    pub(super) failures: u32,
}

impl Supervisor {
    pub(super) fn new(shared: Arc<Shared>, commands: mpsc::UnboundedReceiver<Command>) -> Self {
        Self {
            shared,
            commands,
            failures: 0,
        }
    }

    pub(super) async fn run(mut self, before: BoxFuture<'static, ()>) {
        before.await;
        let mut next = if self.shared.settings.on_demand {
            Next::Rest
        } else {
            Next::Live
        };
        loop {
            next = match next {
                Next::Live => self.live().await,
                Next::Rest => self.rest().await,
                Next::End => return,
            };
        }
    }

    async fn rest(&mut self) -> Next {
        loop {
            let by_itself = matches!(
                self.shared.state.borrow().phase,
                Phase::Stopped { by_person: false }
            );
            match self.commands.recv().await {
                Some(Command::Wanted) if by_itself => return self.wake_up(),
                Some(Command::Wanted) => {}
                Some(Command::Start(reply) | Command::Restart(reply)) => {
                    let next = self.wake_up();
                    answer(reply);
                    return next;
                }
                Some(Command::Stop(reply)) => {
                    let phase = Phase::Stopped { by_person: true };
                    self.shared.set(|state| state.phase = phase);
                    answer(reply);
                }
                Some(Command::End(reply)) => {
                    answer(reply);
                    return Next::End;
                }
                None => return Next::End,
            }
        }
    }

    /// Whoever asks from now on waits for it.
    fn wake_up(&mut self) -> Next {
        self.shared.set(|state| {
            state.phase = Phase::Starting { first: true };
            state.restarts = 0;
        });
        Next::Live
    }

    async fn live(&mut self) -> Next {
        self.failures = 0;
        let shared = Arc::clone(&self.shared);
        if let Some(obstacle) = &shared.settings.obstacle {
            self.park(ErrorCode::ConnectionRequired, obstacle);
            return Next::Rest;
        }
        match &shared.settings.reach {
            Reach::Program(program) => self.live_as_program(program).await,
            Reach::Address(_) => self.live_at_address(shared.settings.reach.policy()).await,
        }
    }

    /// It will not be started again by itself.
    pub(super) fn park(&mut self, code: ErrorCode, why: &str) {
        let why = self.shared.clean(self.with_stderr(why));
        let name = &self.shared.settings.name;
        tracing::error!(server = %name, "the MCP server is given up: {why}");
        self.shared.set(|state| {
            state.phase = Phase::Failed(code);
            state.why = Some(why);
            state.pid = None;
            state.ready_since = None;
        });
    }

    /// It is down, and will be started again.
    pub(super) fn down(&mut self, why: &str) {
        let why = self.shared.clean(self.with_stderr(why));
        let name = &self.shared.settings.name;
        tracing::warn!(server = %name, "the MCP server is down: {why}");
        self.shared.set(|state| {
            state.phase = Phase::Down;
            state.why = Some(why);
            state.pid = None;
            state.ready_since = None;
        });
    }

    pub(super) fn with_stderr(&self, why: &str) -> String {
        self.shared.stderr_tail().map_or_else(
            || why.to_owned(),
            |tail| format!("{why}; its standard error ends with: {tail}"),
        )
    }

    pub(super) fn stopped(&mut self, by_person: bool, why: Option<String>) {
        self.shared.set(|state| {
            state.phase = Phase::Stopped { by_person };
            state.why = why;
            state.pid = None;
            state.ready_since = None;
        });
    }

    /// Does what somebody wants of a server that runs.
    pub(super) async fn obey(
        &mut self,
        command: Option<Command>,
        unit: Option<&UnitHandle>,
    ) -> Next {
        let restarts = matches!(command, Some(Command::Start(_) | Command::Restart(_)));
        if restarts {
            self.shared.set(|state| {
                state.phase = Phase::Starting { first: true };
                state.restarts = 0;
            });
        } else {
            self.stopped(true, None);
        }
        if let Some(unit) = unit {
            stop(unit).await;
        }
        match command {
            Some(Command::Start(reply) | Command::Restart(reply)) => {
                answer(reply);
                Next::Live
            }
            Some(Command::Stop(reply)) => {
                answer(reply);
                Next::Rest
            }
            Some(Command::End(reply)) => {
                answer(reply);
                Next::End
            }
            Some(Command::Wanted) => Next::Rest,
            None => Next::End,
        }
    }
}

pub(super) fn answer(reply: oneshot::Sender<()>) {
    // Who asked may have gone.
    reply.send(()).ok();
}

pub(super) fn code_of(failure: &ConnectFailure) -> ErrorCode {
    if failure.kind == ConnectFault::Unauthorized {
        ErrorCode::ConnectionRequired
    } else {
        ErrorCode::Unavailable
    }
}

pub(super) async fn stop(unit: &UnitHandle) {
    if let Err(error) = unit.stop().await {
        tracing::warn!(unit = %unit.id(), %error, "an MCP server cannot be stopped");
    }
}

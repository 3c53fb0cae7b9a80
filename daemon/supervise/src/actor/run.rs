//! The loop.

use std::{collections::VecDeque, sync::Arc};

use harness_model::{InvocationId, NewUnit};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::Connection;
use crate::{
    Adopted, ProcessEvent, StartError, UnitError,
    engine::Inner,
    handle::{Command, UnitHandle},
    output::budget::Budget,
    spec::{kill_sequence, stop_sequence},
    state::{Action, Event, Machine},
};

/// Somebody waits for the first run.
pub(crate) struct Opening {
    /// What is recorded with it; nothing for a unit that was there before.
    pub(crate) new: Option<NewUnit>,
    /// Who waits.
    pub(crate) reply: oneshot::Sender<Result<(), StartError>>,
}

pub(crate) struct Actor {
    pub(super) engine: Arc<Inner>,
    pub(super) handle: UnitHandle,
    pub(super) machine: Machine,
    commands: mpsc::UnboundedReceiver<Command>,
    process: Option<mpsc::UnboundedReceiver<ProcessEvent>>,
    pub(super) queue: VecDeque<Event>,
    pending: Vec<Action>,
    stray: Option<Adopted>,
    pub(super) opening: Option<Opening>,
    /// The first run is recorded; who waits for its process is told when it exists or could not be started.
    pub(super) opened: Option<oneshot::Sender<Result<(), StartError>>>,
    /// Who waits for somebody's restart.
    restarting: Vec<oneshot::Sender<Result<(), UnitError>>>,
    /// Who waits for a stop to be under way.
    stopping: Vec<oneshot::Sender<Result<(), UnitError>>>,
    /// The next stop is a kill.
    kills: bool,
    pub(crate) connections: Option<mpsc::UnboundedSender<Connection>>,
    pub(super) budgets: Vec<Budget>,
    /// The state is not in the record, because the record could not be written.
    pub(super) unwritten: bool,
    /// Runs whose end is not in the record yet.
    pub(super) unacknowledged: Vec<InvocationId>,
    pub(super) done: bool,
}

impl Actor {
    pub(crate) fn new(
        engine: Arc<Inner>,
        handle: UnitHandle,
        machine: Machine,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> Self {
        Self {
            engine,
            handle,
            machine,
            commands,
            process: None,
            queue: VecDeque::new(),
            pending: Vec::new(),
            stray: None,
            opening: None,
            opened: None,
            restarting: Vec::new(),
            stopping: Vec::new(),
            kills: false,
            connections: None,
            budgets: Vec::new(),
            unwritten: false,
            unacknowledged: Vec::new(),
            done: false,
        }
    }

    /// It begins with a start.
    pub(crate) fn open(&mut self, opening: Opening) {
        self.opening = Some(opening);
        self.queue.push_back(Event::Start(InvocationId::generate()));
    }

    /// It begins in the middle, after a restart of the daemon.
    pub(crate) fn resume(
        &mut self,
        actions: Vec<Action>,
        adopted: Option<Adopted>,
        stray: Option<Adopted>,
    ) {
        self.pending = actions;
        if self.machine.state().is_final() {
            self.done = true;
        } else {
            self.watch_output();
        }
        self.stray = stray;
        match adopted {
            Some(adopted) if self.machine.has_process() => {
                self.process = Some(adopted.spawned.events);
            }
            // Its end is in the record already.
            Some(adopted) => self.engine.spawner.acknowledge(&adopted.invocation),
            None if self.machine.has_process() => self.queue.push_back(Event::Lost),
            None => {}
        }
    }

    /// Its work is boxed, so that a unit that only runs holds no more than its state.
    pub(crate) async fn run(mut self: Box<Self>) {
        Box::pin(self.begin()).await;
        while !self.done {
            if let Some(event) = self.queue.pop_front() {
                Box::pin(self.step(event)).await;
                continue;
            }
            let deadline = self.machine.deadline();
            let due = deadline.and_then(|deadline| self.engine.clock.instant(deadline));
            tokio::select! {
                biased;
                event = happened(&mut self.process) => self.queue.push_back(event),
                Some(command) = self.commands.recv() => self.command(command),
                () = until(due) => Box::pin(self.time_is_up()).await,
            }
        }
    }

    async fn begin(&mut self) {
        self.end_stray().await;
        let pending = std::mem::take(&mut self.pending);
        self.perform(pending).await;
    }

    /// A run that the record does not know as the unit's last one must not run beside it.
    async fn end_stray(&mut self) {
        let Some(Adopted {
            invocation,
            mut spawned,
            ..
        }) = self.stray.take()
        else {
            return;
        };
        tracing::warn!(unit = %self.handle.id(), %invocation, "an unknown run is ended");
        let spawner = Arc::clone(&self.engine.spawner);
        let sequence = stop_sequence(self.machine.policy());
        if let Err(error) = spawner.stop(&invocation, sequence).await {
            tracing::warn!(unit = %self.handle.id(), %error, "an unknown run cannot be ended");
        }
        tokio::spawn(async move {
            while let Some(event) = spawned.events.recv().await {
                if matches!(event, ProcessEvent::Ended(_)) {
                    spawner.acknowledge(&invocation);
                }
            }
        });
    }

    async fn time_is_up(&mut self) {
        let event = self.machine.timer_event();
        if matches!(event, Event::RestartDue(_)) && !self.caught_up().await {
            return;
        }
        self.queue.push_back(event);
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Stop(reply) => {
                self.stopping.push(reply);
                self.queue.push_back(Event::StopRequested);
            }
            Command::Kill(reply) => {
                self.kills = true;
                self.stopping.push(reply);
                self.queue.push_back(Event::StopRequested);
            }
            Command::Restart(reply) => {
                self.restarting.push(reply);
                self.queue.push_back(Event::RestartRequested);
            }
            Command::ResetFailed => self.queue.push_back(Event::ResetFailed),
            Command::Note(text) => self.queue.push_back(Event::Noted(text)),
        }
    }

    async fn step(&mut self, event: Event) {
        let actions = self.machine.handle(event.clone(), self.engine.clock.now());
        self.perform(actions).await;
        self.publish();
        self.answer(event);
    }

    async fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Spawn => self.spawn().await,
                Action::Stop => self.stop().await,
                Action::Record => self.record().await,
                Action::Note => {
                    let transition = self.transition();
                    self.engine.journal.noted(transition);
                }
                Action::Start => self
                    .queue
                    .push_front(Event::Start(InvocationId::generate())),
                Action::Rest => self.come_to_rest().await,
                Action::Acknowledge(invocation) => self.acknowledge(invocation),
            }
        }
    }

    async fn stop(&mut self) {
        let Some(invocation) = self.machine.state().invocation.clone() else {
            return;
        };
        let sequence = if std::mem::take(&mut self.kills) {
            kill_sequence()
        } else {
            stop_sequence(self.machine.policy())
        };
        if let Err(error) = self.engine.spawner.stop(&invocation, sequence).await {
            tracing::warn!(unit = %self.handle.id(), %error, "the stop was not carried out");
            for reply in self.stopping.drain(..).chain(self.restarting.drain(..)) {
                reply.send(Err(error.clone().into())).ok();
            }
        }
    }

    pub(super) fn listen(&mut self, events: mpsc::UnboundedReceiver<ProcessEvent>) {
        self.process = Some(events);
    }

    /// Tells those who asked for something that has happened now.
    fn answer(&mut self, event: Event) {
        if matches!(event, Event::Spawned { .. } | Event::SpawnFailed(_)) {
            self.tell_opened();
        }
        if event == Event::StopRequested {
            for reply in self.stopping.drain(..) {
                reply.send(Ok(())).ok();
            }
        }
        if self.restarting.is_empty() || self.machine.start_wanted() {
            return;
        }
        let unit = self.handle.id().clone();
        let answer = if let Event::SpawnFailed(reason) = event {
            Err(UnitError::NotStarted { unit, reason })
        } else if self.machine.refused() {
            let reason = "it hit its start limit".to_owned();
            Err(UnitError::NotStarted { unit, reason })
        } else if event == Event::StopRequested {
            let what = "stopped";
            Err(UnitError::Superseded { unit, what })
        } else if matches!(event, Event::Spawned { .. }) {
            Ok(())
        } else {
            return;
        };
        for reply in self.restarting.drain(..) {
            reply.send(answer.clone()).ok();
        }
    }

    pub(super) fn tell_opened(&mut self) {
        if let Some(reply) = self.opened.take() {
            reply.send(Ok(())).ok();
        }
    }

    /// Everybody sees the state.
    pub(super) fn publish(&self) {
        self.handle.shared.state.send_if_modified(|shown| {
            let changed = shown != self.machine.state();
            if changed {
                shown.clone_from(self.machine.state());
            }
            changed
        });
    }
}

/// The next thing that happens to the process, if there is one.
async fn happened(process: &mut Option<mpsc::UnboundedReceiver<ProcessEvent>>) -> Event {
    let Some(events) = process else {
        return std::future::pending().await;
    };
    let event = events.recv().await;
    if matches!(
        event,
        None | Some(ProcessEvent::Lost | ProcessEvent::Ended(_))
    ) {
        *process = None;
    }
    match event {
        Some(ProcessEvent::MainExited(report)) => Event::MainExited(report),
        Some(ProcessEvent::FinalKill) => Event::FinalKill,
        Some(ProcessEvent::OomKilled) => Event::OomKilled,
        Some(ProcessEvent::Ended(report)) => Event::Ended(report),
        Some(ProcessEvent::Lost) | None => Event::Lost,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

//! Which reply and which event goes to whom.

use std::{collections::HashMap, os::fd::OwnedFd, sync::Arc, time::Duration};

use harness_keeper::protocol::{Event, Failure, ListedUnit, Message, Reply, Request};
use harness_model::InvocationId;
use harness_supervise::{Adopted, ProcessEvent, SpawnError, Spawned};
use tokio::sync::{mpsc, oneshot};

use super::{convert, link::Link};

/// An answer and the descriptors that came with it.
pub(super) type Answer = (Reply, Vec<OwnedFd>);

/// Everything that waits for the keeper.
#[derive(Default)]
pub(super) struct Routes {
    /// Under the same lock as those who wait, so that nobody waits for an answer on a connection that is gone.
    link: Option<Arc<Link>>,
    next: u64,
    pending: HashMap<u64, oneshot::Sender<Answer>>,
    runs: HashMap<InvocationId, Run>,
}

/// A run and who hears of it.
struct Run {
    events: mpsc::UnboundedSender<ProcessEvent>,
    told: Told,
    /// Nobody wants it: it is stopped, and forgotten at its end.
    disowned: bool,
}

/// What the engine has heard of a run.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an event that is told once, in any order"
)]
struct Told {
    main_exited: bool,
    final_kill: bool,
    ended: bool,
    oom_killed: bool,
}

/// What the driver has to tell the keeper after an event or a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// Nobody will: it has ended.
    Acknowledge(InvocationId),
    /// Nobody wants it.
    Stop(InvocationId),
}

/// A request that has its number, but is not sent yet.
pub(super) struct Expected {
    link: Arc<Link>,
    id: u64,
    answer: oneshot::Receiver<Answer>,
}

impl Expected {
    /// Sends the request and waits for the answer, which is no failure.
    pub(super) async fn exchange(
        self,
        request: Request,
        fds: Vec<OwnedFd>,
    ) -> Result<Answer, SpawnError> {
        let Self { link, id, answer } = self;
        link.send(id, request, fds)
            .map_err(|error| SpawnError::System {
                step: "the request to the keeper".to_owned(),
                error: error.to_string(),
                retryable: false,
            })?;
        drop(link);
        match answer.await {
            Ok((Reply::Failed(failure), _)) => Err(convert::error(failure)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(SpawnError::Unavailable),
        }
    }
}

impl Run {
    fn new(events: mpsc::UnboundedSender<ProcessEvent>) -> Self {
        Self {
            events,
            told: Told::default(),
            disowned: false,
        }
    }

    fn disowned() -> Self {
        let (events, _) = mpsc::unbounded_channel();
        Self {
            disowned: true,
            ..Self::new(events)
        }
    }

    /// Tells what it has not told before. Events are few and their reader may be gone.
    fn tell(&mut self, event: ProcessEvent) {
        let told = match &event {
            ProcessEvent::MainExited(_) => &mut self.told.main_exited,
            ProcessEvent::FinalKill => &mut self.told.final_kill,
            ProcessEvent::Ended(_) => &mut self.told.ended,
            ProcessEvent::OomKilled => &mut self.told.oom_killed,
            ProcessEvent::Lost => &mut false,
        };
        if !std::mem::replace(told, true) {
            self.events.send(event).ok();
        }
    }

    fn catch_up(&mut self, listed: &ListedUnit) {
        if listed.oom_killed {
            self.tell(ProcessEvent::OomKilled);
        }
        if let Some(exit) = &listed.main_exited {
            self.tell(ProcessEvent::MainExited(exit.clone()));
        }
        if listed.final_kill {
            self.tell(ProcessEvent::FinalKill);
        }
        if let Some(exit) = &listed.ended {
            self.tell(ProcessEvent::Ended(exit.clone()));
        }
    }
}

impl Routes {
    /// Requests go through this connection from now on.
    pub(super) fn connect(&mut self, link: Arc<Link>) {
        self.link = Some(link);
    }

    /// The way for a request whose answer is awaited; `None` without a connection.
    pub(super) fn expect(&mut self) -> Option<Expected> {
        let (link, id) = self.post()?;
        let (sender, answer) = oneshot::channel();
        self.pending.insert(id, sender);
        Some(Expected { link, id, answer })
    }

    /// The way for a request whose answer nobody needs.
    pub(super) fn post(&mut self) -> Option<(Arc<Link>, u64)> {
        let link = self.link.clone()?;
        self.next += 1;
        Some((link, self.next))
    }

    /// The way for the request to start a run, and where its events come.
    pub(super) fn expect_run(
        &mut self,
        invocation: &InvocationId,
    ) -> Option<(Expected, mpsc::UnboundedReceiver<ProcessEvent>)> {
        let expected = self.expect()?;
        Some((expected, self.follow(invocation.clone())))
    }

    fn follow(&mut self, invocation: InvocationId) -> mpsc::UnboundedReceiver<ProcessEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.runs.insert(invocation, Run::new(sender));
        receiver
    }

    /// The run is nobody's concern any more. Whether it was known.
    pub(super) fn forget(&mut self, invocation: &InvocationId) -> bool {
        self.runs.remove(invocation).is_some()
    }

    /// Whoever asked for the run has gone. Whether it may exist.
    pub(super) fn disown(&mut self, invocation: &InvocationId) -> bool {
        let run = self.runs.get_mut(invocation);
        run.map(|run| run.disowned = true).is_some()
    }

    /// Gives a message to whom it belongs.
    pub(super) fn deliver(&mut self, message: Message, fds: Vec<OwnedFd>) -> Option<Errand> {
        match message {
            Message::Reply(frame) => {
                if let Some(sender) = self.pending.remove(&frame.id) {
                    // Who no longer waits has disowned what was started for it.
                    sender.send((frame.reply, fds)).ok();
                }
                None
            }
            Message::Event(event) => self.deliver_event(event),
        }
    }

    /// The answer to a request cannot be read.
    pub(super) fn deliver_unreadable(&mut self, id: u64) {
        if let Some(sender) = self.pending.remove(&id) {
            let failure = Failure::Unsupported {
                request: "this kind of answer".to_owned(),
            };
            sender.send((Reply::Failed(failure), Vec::new())).ok();
        }
    }

    fn deliver_event(&mut self, event: Event) -> Option<Errand> {
        let (invocation, event) = match event {
            Event::MainExited { invocation, exit } => (invocation, ProcessEvent::MainExited(exit)),
            Event::FinalKill { invocation } => (invocation, ProcessEvent::FinalKill),
            Event::OomKilled { invocation } => (invocation, ProcessEvent::OomKilled),
            Event::Ended { invocation, exit } => (invocation, ProcessEvent::Ended(exit)),
            Event::Replaced { .. } => return None,
        };
        let run = self.runs.get_mut(&invocation)?;
        run.tell(event);
        if run.disowned && run.told.ended {
            self.runs.remove(&invocation);
            return Some(Errand::Acknowledge(invocation));
        }
        None
    }

    /// The connection is gone: no answer comes any more.
    pub(super) fn disconnect(&mut self) {
        self.link = None;
        self.pending.clear();
    }

    /// The keeper is gone, and all runs with it.
    pub(super) fn lose(&mut self) {
        for (_, mut run) in self.runs.drain() {
            run.tell(ProcessEvent::Lost);
        }
    }

    /// The first list: everything on it is handed out.
    pub(super) fn adopt(&mut self, listed: Vec<ListedUnit>) -> Vec<Adopted> {
        listed
            .into_iter()
            .map(|listed| {
                let events = self.follow(listed.invocation.clone());
                if let Some(run) = self.runs.get_mut(&listed.invocation) {
                    run.catch_up(&listed);
                }
                Adopted {
                    unit: listed.unit,
                    invocation: listed.invocation,
                    running_for: Duration::from_micros(listed.running_usec),
                    spawned: Spawned {
                        pid: listed.pid,
                        started_at: listed.started_at,
                        not_enforced: listed.not_enforced,
                        events,
                    },
                }
            })
            .collect()
    }

    /// The list of the same keeper after a broken connection: what was missed is told, what nobody asked for is ended.
    pub(super) fn resume(&mut self, listed: &[ListedUnit]) -> Vec<Errand> {
        let mut errands = Vec::new();
        for unit in listed {
            let run = self
                .runs
                .entry(unit.invocation.clone())
                .or_insert_with(Run::disowned);
            run.catch_up(unit);
            if run.disowned && run.told.ended {
                self.runs.remove(&unit.invocation);
                errands.push(Errand::Acknowledge(unit.invocation.clone()));
            } else if run.disowned {
                errands.push(Errand::Stop(unit.invocation.clone()));
            }
        }
        let gone =
            |invocation: &InvocationId| !listed.iter().any(|unit| unit.invocation == *invocation);
        self.runs.retain(|invocation, run| {
            let lost = gone(invocation);
            if lost && !run.told.ended {
                run.tell(ProcessEvent::Lost);
            }
            !lost
        });
        errands
    }
}

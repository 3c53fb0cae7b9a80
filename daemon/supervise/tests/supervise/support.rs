//! A record and an owner of processes that do as they are told, and write down what they were asked.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use harness_model::{
    ExitReport, ExitStatus, InvocationId, NewUnit, SandboxRules, Signal, StoredUnit, SubState,
    Timestamp, Transition, UnitId, UnitKind, UnitSettings, Usage,
};
use harness_supervise::{
    Engine, Journal, JournalError, OutputFiles, ProcessEvent, SpawnError, SpawnRequest, Spawned,
    Spawner, StopSequence, UnitSpec,
};
use tokio::{
    sync::{Notify, mpsc, watch},
    time::timeout,
};

/// What the engine did to the outside, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Created,
    Starting,
    Changed { sub: SubState, awaited: bool },
    Noted(SubState),
    Waited(bool),
    Spawn,
    Signal(Signal, bool),
    Stop,
    Acknowledge,
}

#[derive(Default)]
struct Script {
    steps: Vec<Step>,
    last: Option<Transition>,
    created: Option<NewUnit>,
    refuse_spawns: VecDeque<SpawnError>,
    record_failures: u32,
    record_fails_for_good: bool,
    hold_rest: bool,
    stop_error: Option<SpawnError>,
    sequence: Option<StopSequence>,
}

/// Both fakes in one, so that their order shows.
pub(crate) struct World {
    script: Mutex<Script>,
    spawned: mpsc::UnboundedSender<Process>,
    pub(crate) release: Notify,
    pub(crate) held: Notify,
    changed: watch::Sender<()>,
}

/// A process that ends when the test says so.
pub(crate) struct Process {
    pub(crate) request: SpawnRequest,
    pub(crate) events: mpsc::UnboundedSender<ProcessEvent>,
}

impl Process {
    /// It ends, and nothing is left of it.
    pub(crate) fn end(&self, status: ExitStatus) {
        self.events
            .send(ProcessEvent::MainExited(report(status)))
            .unwrap();
        self.events
            .send(ProcessEvent::Ended(report(status)))
            .unwrap();
    }

    pub(crate) fn exit(&self, code: u8) {
        self.end(ExitStatus::Exited(code));
    }
}

pub(crate) struct Fixture {
    pub(crate) engine: Engine,
    pub(crate) world: Arc<World>,
    pub(crate) processes: mpsc::UnboundedReceiver<Process>,
    pub(crate) directory: tempfile::TempDir,
    /// Processes that go on: without its channel one counts as lost.
    kept: Vec<Process>,
}

pub(crate) fn fixture() -> Fixture {
    let (spawned, processes) = mpsc::unbounded_channel();
    let world = Arc::new(World {
        script: Mutex::default(),
        spawned,
        release: Notify::new(),
        held: Notify::new(),
        changed: watch::Sender::new(()),
    });
    Fixture {
        engine: Engine::new(world.clone(), world.clone()),
        world,
        processes,
        directory: tempfile::tempdir().unwrap(),
        kept: Vec::new(),
    }
}

impl Fixture {
    pub(crate) fn spec(&self, settings: &str) -> UnitSpec {
        spec(self.directory.path(), settings)
    }

    pub(crate) async fn next(&mut self) -> Process {
        self.processes.recv().await.unwrap()
    }

    /// The next process goes on.
    pub(crate) async fn keep_next(&mut self) {
        let process = self.next().await;
        self.kept.push(process);
    }

    /// Nothing is started for so long.
    pub(crate) async fn starts_nothing_for(&mut self, span: Duration) -> bool {
        timeout(span, self.processes.recv()).await.is_err()
    }

    /// Nothing was started beside what `next` returned.
    pub(crate) fn nothing_started(&mut self) -> bool {
        self.processes.try_recv().is_err()
    }

    /// What the record holds of the last unit, as a new daemon would read it.
    pub(crate) fn stored(&self) -> StoredUnit {
        let script = self.world.script.lock().unwrap();
        let last = script.last.clone().unwrap();
        StoredUnit {
            unit: script.created.clone().unwrap(),
            state: last.state,
            recent_starts: last.recent_starts,
        }
    }
}

impl World {
    pub(crate) fn steps(&self) -> Vec<Step> {
        self.script.lock().unwrap().steps.clone()
    }

    pub(crate) fn count(&self, step: &Step) -> usize {
        self.steps().iter().filter(|other| *other == step).count()
    }

    pub(crate) fn last(&self) -> Transition {
        self.script.lock().unwrap().last.clone().unwrap()
    }

    pub(crate) fn refuse_spawn(&self, error: SpawnError) {
        self.script.lock().unwrap().refuse_spawns.push_back(error);
    }

    /// The next so many writes fail.
    pub(crate) fn fail_records(&self, count: u32) {
        self.script.lock().unwrap().record_failures = count;
    }

    pub(crate) fn fail_records_for_good(&self, fail: bool) {
        self.script.lock().unwrap().record_fails_for_good = fail;
    }

    /// The record of an end waits for `release`.
    pub(crate) fn hold_rest(&self) {
        self.script.lock().unwrap().hold_rest = true;
    }

    pub(crate) fn fail_stops(&self, error: Option<SpawnError>) {
        self.script.lock().unwrap().stop_error = error;
    }

    /// How the last stop was to be carried out.
    pub(crate) fn sequence(&self) -> StopSequence {
        self.script.lock().unwrap().sequence.clone().unwrap()
    }

    /// Resolves when the step has been taken.
    pub(crate) async fn until(&self, step: &Step) {
        let mut changed = self.changed.subscribe();
        while self.count(step) == 0 {
            changed.changed().await.unwrap();
        }
    }

    fn push(&self, step: Step) {
        self.script.lock().unwrap().steps.push(step);
        self.changed.send_replace(());
    }

    fn write(&self, step: Step, transition: Transition) -> Result<(), JournalError> {
        let mut script = self.script.lock().unwrap();
        if script.record_fails_for_good || script.record_failures > 0 {
            script.record_failures = script.record_failures.saturating_sub(1);
            return Err(JournalError("no space left on device".to_owned()));
        }
        script.steps.push(step);
        script.last = Some(transition);
        Ok(())
    }
}

impl Journal for World {
    fn created(
        &self,
        unit: NewUnit,
        starting: Transition,
    ) -> BoxFuture<'_, Result<(), JournalError>> {
        async move {
            self.write(Step::Created, starting)?;
            self.script.lock().unwrap().created = Some(unit);
            Ok(())
        }
        .boxed()
    }

    fn starting(&self, transition: Transition) -> BoxFuture<'_, Result<(), JournalError>> {
        async move { self.write(Step::Starting, transition) }.boxed()
    }

    fn changed(&self, transition: Transition) -> BoxFuture<'_, Result<(), JournalError>> {
        async move {
            let hold = self.script.lock().unwrap().hold_rest;
            if hold && transition.state.is_final() {
                self.held.notify_one();
                self.release.notified().await;
            }
            let step = Step::Changed {
                sub: transition.state.sub_state,
                awaited: transition.awaited,
            };
            self.write(step, transition)
        }
        .boxed()
    }

    fn noted(&self, transition: Transition) {
        let step = Step::Noted(transition.state.sub_state);
        self.write(step, transition).ok();
    }

    fn waited(&self, _: &UnitId, delivered: bool) {
        self.push(Step::Waited(delivered));
    }
}

impl Spawner for World {
    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<Spawned, SpawnError>> {
        async move {
            let refused = self.script.lock().unwrap().refuse_spawns.pop_front();
            if let Some(error) = refused {
                return Err(error);
            }
            self.push(Step::Spawn);
            let (events, receiver) = mpsc::unbounded_channel();
            self.spawned.send(Process { request, events }).unwrap();
            Ok(spawned(receiver))
        }
        .boxed()
    }

    fn signal(
        &self,
        _: &InvocationId,
        signal: Signal,
        whole_tree: bool,
    ) -> BoxFuture<'_, Result<(), SpawnError>> {
        async move {
            self.push(Step::Signal(signal, whole_tree));
            Ok(())
        }
        .boxed()
    }

    fn stop(
        &self,
        _: &InvocationId,
        sequence: StopSequence,
    ) -> BoxFuture<'_, Result<(), SpawnError>> {
        async move {
            self.push(Step::Stop);
            self.script.lock().unwrap().sequence = Some(sequence);
            let error = self.script.lock().unwrap().stop_error.clone();
            error.map_or(Ok(()), Err)
        }
        .boxed()
    }

    fn acknowledge(&self, _: &InvocationId) {
        self.push(Step::Acknowledge);
    }
}

pub(crate) fn spawned(events: mpsc::UnboundedReceiver<ProcessEvent>) -> Spawned {
    Spawned {
        pid: 4242,
        started_at: Timestamp::from(std::time::SystemTime::now()),
        not_enforced: Vec::new(),
        events,
    }
}

pub(crate) fn report(status: ExitStatus) -> ExitReport {
    ExitReport {
        status,
        ended_at: Timestamp::from(std::time::SystemTime::now()),
        runtime_usec: 1000,
        usage: Usage::default(),
        oom_killed: false,
        left_over: 0,
        survivors: Vec::new(),
    }
}

pub(crate) fn signaled(signal: Signal) -> ExitStatus {
    ExitStatus::Signaled {
        signal,
        core_dump: false,
    }
}

pub(crate) fn settings(json: &str) -> UnitSettings {
    serde_json::from_str(json).unwrap()
}

pub(crate) fn spec(directory: &Path, json: &str) -> UnitSpec {
    UnitSpec {
        kind: UnitKind::Task,
        call: None,
        name: None,
        command: "true".to_owned(),
        argv: vec!["true".to_owned()],
        environment: vec![("PATH".to_owned(), "/bin".to_owned())],
        cwd: "/".into(),
        settings: settings(json),
        output: OutputFiles {
            stdout: directory.join("tasks/x.out"),
            stderr: directory.join("tasks/x.err"),
            max_bytes: 1 << 20,
        },
        stdin: None,
        sandbox: SandboxRules::default(),
    }
}

pub(crate) fn id(text: &str) -> UnitId {
    text.parse().unwrap()
}

pub(crate) const LONG: Duration = Duration::from_hours(24);

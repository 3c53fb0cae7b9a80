//! The registry of live units.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use futures_util::future::join_all;
use harness_model::{StoredUnit, UnitId, UnitKind, UnitPolicy, UnitState};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    Adopted, Journal, RunEnvironment, Spawner, StartError, UnitSpec,
    actor::{Actor, Connection, Opening},
    clock::Clock,
    handle::{Shared, UnitHandle},
    restart::StartLimit,
    state::{Known, Machine},
    stored,
    waits::{Waiter, Waits},
};

/// All live units. Cheap to clone; one actor per unit does the work.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) spawner: Arc<dyn Spawner>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) environment: Option<Arc<dyn RunEnvironment>>,
    pub(crate) clock: Clock,
    units: Arc<Mutex<HashMap<UnitId, UnitHandle>>>,
}

impl Inner {
    fn units(&self) -> MutexGuard<'_, HashMap<UnitId, UnitHandle>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A unit that has come to rest leaves.
    pub(crate) fn forget(&self, id: &UnitId) {
        self.units().remove(id);
    }
}

/// What a stop may take beyond `timeout_stop_sec`: the last signal, and the proof that the tree is empty.
const STOP_GRACE: Duration = Duration::from_secs(10);

impl Engine {
    /// An engine without units. Its methods need a tokio runtime.
    #[must_use]
    pub fn new(spawner: Arc<dyn Spawner>, journal: Arc<dyn Journal>) -> Self {
        Self {
            inner: Arc::new(Inner {
                spawner,
                journal,
                environment: None,
                clock: Clock::new(SystemTime::now),
                units: Arc::default(),
            }),
        }
    }

    /// With variables that belong to one run each.
    #[must_use]
    pub fn with_environment(mut self, environment: Arc<dyn RunEnvironment>) -> Self {
        Arc::make_mut(&mut self.inner).environment = Some(environment);
        self
    }

    /// With another wall clock, for tests that set it.
    #[must_use]
    pub fn with_wall_clock(mut self, wall: fn() -> SystemTime) -> Self {
        Arc::make_mut(&mut self.inner).clock = Clock::new(wall);
        self
    }

    /// Records a new unit, then starts it.
    ///
    /// Resolves once the process of the first run exists or could not be started; the unit is then
    /// at rest with the result `resources`, or waits for its restart.
    ///
    /// # Errors
    /// When nothing was recorded and nothing runs.
    pub async fn start(&self, id: UnitId, spec: UnitSpec) -> Result<UnitHandle, StartError> {
        Ok(self.make(id, spec, None).await?.0)
    }

    /// As [`start`](Self::start), and waits for the end from the beginning: however quickly the unit
    /// ends, its end is awaited.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub async fn start_awaited(
        &self,
        id: UnitId,
        spec: UnitSpec,
    ) -> Result<(UnitHandle, Waiter), StartError> {
        self.make(id, spec, None).await
    }

    /// As [`start`](Self::start), with a pipe each for standard input and output. Every run sends
    /// the daemon's ends of its own two; standard error goes to its file.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub async fn start_connected(
        &self,
        id: UnitId,
        spec: UnitSpec,
        connections: mpsc::UnboundedSender<Connection>,
    ) -> Result<UnitHandle, StartError> {
        Ok(self.make(id, spec, Some(connections)).await?.0)
    }

    async fn make(
        &self,
        id: UnitId,
        spec: UnitSpec,
        connections: Option<mpsc::UnboundedSender<Connection>>,
    ) -> Result<(UnitHandle, Waiter), StartError> {
        let policy = spec.settings.resolve()?;
        spec.check()?;
        let created_at = self.inner.clock.now().wall;
        let new = spec
            .new_unit(&id, created_at)
            .map_err(|source| StartError::Recorded {
                unit: id.clone(),
                source,
            })?;
        let machine = Machine::new(policy, UnitState::new(), StartLimit::default());
        let (handle, mut actor) = self
            .register(id, spec, created_at, machine)
            .map_err(|live| taken(&live))?;
        actor.connections = connections;
        let waiter = handle.waiter();
        self.begin(&handle, actor, Some(new)).await?;
        Ok((handle, waiter))
    }

    /// Starts a unit at rest again, under its id. The start limit counts this start too, and
    /// `restarts` begins at zero, both as with `systemctl start`.
    ///
    /// # Errors
    /// When nothing runs. With [`StartError::StartLimit`] the unit is failed now, and recorded as such;
    /// with the others it is as it was.
    pub async fn start_again(&self, stored: StoredUnit) -> Result<UnitHandle, StartError> {
        let id = stored.unit.id.clone();
        let spec: UnitSpec =
            serde_json::from_str(&stored.unit.spec).map_err(|source| StartError::Recorded {
                unit: id.clone(),
                source,
            })?;
        let policy = spec.settings.resolve()?;
        let limit = StartLimit::restored(stored.recent_starts, self.inner.clock.now());
        let machine = Machine::new(policy, stored.state, limit);
        let (handle, actor) = self
            .register(id, spec, stored.unit.created_at, machine)
            .map_err(|live| taken(&live))?;
        self.begin(&handle, actor, None).await?;
        Ok(handle)
    }

    /// Hands the actor over to the runtime, so that a caller who goes away leaves nothing half done.
    async fn begin(
        &self,
        handle: &UnitHandle,
        mut actor: Box<Actor>,
        new: Option<harness_model::NewUnit>,
    ) -> Result<(), StartError> {
        let (reply, answer) = oneshot::channel();
        actor.open(Opening { new, reply });
        tokio::spawn(actor.run());
        answer.await.unwrap_or_else(|_| {
            Err(StartError::Stopping {
                unit: handle.id().clone(),
            })
        })
    }

    /// Gives a unit its place; `Err` is the unit that has it already.
    fn register(
        &self,
        id: UnitId,
        spec: UnitSpec,
        created_at: harness_model::Timestamp,
        machine: Machine,
    ) -> Result<(UnitHandle, Box<Actor>), UnitHandle> {
        let (commands, receiver) = mpsc::unbounded_channel();
        let (state, _) = watch::channel(machine.state().clone());
        let inner = &self.inner;
        let shared = Arc::new(Shared {
            waits: Arc::new(Waits::new(id.clone(), Arc::clone(&inner.journal))),
            id,
            spec,
            created_at,
            state,
            commands,
            spawner: Arc::clone(&inner.spawner),
        });
        let handle = UnitHandle { shared };
        let mut units = inner.units();
        if let Some(live) = units.get(handle.id()) {
            return Err(live.clone());
        }
        units.insert(handle.id().clone(), handle.clone());
        let actor = Box::new(Actor::new(
            Arc::clone(inner),
            handle.clone(),
            machine,
            receiver,
        ));
        Ok((handle, actor))
    }

    /// Continues a unit that the record says is not at rest, after a restart of the daemon.
    ///
    /// `adopted` is what the owner of processes knows of the recorded run. If it knows nothing, the unit
    /// is *interrupted*: failed, with the result `signal` and no exit status. A unit that is at rest is
    /// only given a handle, and its process is forgotten. One that is live already is returned as it is.
    #[expect(
        clippy::must_use_candidate,
        reason = "the unit goes on without anybody holding it"
    )]
    pub fn adopt(&self, stored: StoredUnit, adopted: Option<Adopted>) -> UnitHandle {
        let now = self.inner.clock.now();
        let id = stored.unit.id.clone();
        let spec = stored::spec(&stored.unit);
        let policy = stored::policy(&id, &spec);
        let (adopted, stray) = match adopted {
            Some(adopted) if Some(&adopted.invocation) == stored.state.invocation.as_ref() => {
                (Some(adopted), None)
            }
            other => (None, other),
        };
        let known = adopted.as_ref().map(|adopted| Known {
            pid: adopted.spawned.pid,
            running_for: adopted.running_for,
        });
        let limit = StartLimit::restored(stored.recent_starts, now);
        let (machine, actions) = Machine::adopt(policy, stored.state, limit, known, now);
        match self.register(id.clone(), spec, stored.unit.created_at, machine) {
            Ok((handle, mut actor)) => {
                actor.resume(actions, adopted, stray);
                if handle.state().is_final() {
                    self.inner.forget(&id);
                }
                tokio::spawn(actor.run());
                handle
            }
            Err(live) => live,
        }
    }

    /// A live unit by its id. One that has come to rest has left, once that is recorded.
    #[must_use]
    pub fn get(&self, id: &UnitId) -> Option<UnitHandle> {
        self.inner.units().get(id).cloned()
    }

    /// How many live units there are of a kind.
    #[must_use]
    pub fn count(&self, kind: UnitKind) -> u64 {
        self.inner
            .units()
            .values()
            .filter(|unit| unit.spec().kind == kind)
            .count() as u64
    }

    /// All live units.
    #[must_use]
    pub fn live(&self) -> Vec<UnitHandle> {
        self.inner.units().values().cloned().collect()
    }

    /// Stops every unit at once, each bounded by its own `timeout_stop_sec` and a little more.
    pub async fn stop_all(&self) {
        join_all(self.live().into_iter().map(|handle| async move {
            let policy: Option<UnitPolicy> = handle.spec().settings.resolve().ok();
            let limit = policy.map_or(Some(STOP_GRACE), |policy| {
                Some(policy.timeout_stop?.saturating_add(STOP_GRACE))
            });
            let stop = handle.stop();
            let stopped = match limit {
                Some(limit) => tokio::time::timeout(limit, stop).await.ok(),
                None => Some(stop.await),
            };
            match stopped {
                Some(Ok(_)) => {}
                Some(Err(error)) => tracing::warn!(unit = %handle.id(), %error, "not stopped"),
                None => tracing::warn!(unit = %handle.id(), "still there after its stop timeout"),
            }
        }))
        .await;
    }
}

fn taken(live: &UnitHandle) -> StartError {
    StartError::Taken {
        unit: live.id().clone(),
    }
}

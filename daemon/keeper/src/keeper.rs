//! The keeper's state and its one loop.

use std::{
    collections::HashMap,
    io,
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use harness_keeper::protocol::{Event, FEATURE_OOM_EVENT};
use harness_model::InvocationId;
use rustix::{event::epoll, io::Errno, time::Timespec};

use crate::{
    cgroup::{Hierarchy, MemoryWatch, UnitCgroup, kills_in},
    connection::Connection,
    domain::Domain,
    listen::Listener,
    privilege::Privilege,
    process::Children,
    signal,
    spawn::Launcher,
    unit::Unit,
};

/// What an event of epoll(7) is about; the low half of the token is a number.
const LISTENER: u64 = 1 << 32;
const SIGNALS: u64 = 2 << 32;
const CONNECTION: u64 = 3 << 32;
const CGROUP: u64 = 4 << 32;
const MEMORY: u64 = 5 << 32;
const KINDS: u64 = !(u32::MAX as u64);

/// How many events are taken at once.
const EVENTS: usize = 64;

/// How long a stop may take when the keeper itself is to end: less than systemd's own patience of 90 s.
const SHUTDOWN: Duration = Duration::from_secs(80);

/// The owner of all children.
pub(crate) struct Keeper {
    pub(crate) agent_state: String,
    pub(crate) instance: String,
    pub(crate) enforcement: Vec<harness_model::Enforcement>,
    pub(crate) allowed_uids: Vec<u32>,
    pub(crate) units: HashMap<InvocationId, Unit>,
    /// Every child that is not reaped, and the run it belongs to.
    pub(crate) children: HashMap<i32, InvocationId>,
    pub(crate) own_children: Children,
    pub(crate) hierarchy: Option<Hierarchy>,
    /// Where memory is accounted.
    pub(crate) memory: Option<MemoryWatch>,
    /// Cgroups that are to be removed.
    pub(crate) empty_cgroups: Vec<UnitCgroup>,
    pub(crate) domain: Domain,
    pub(crate) privilege: Privilege,
    pub(crate) launcher: Launcher,
    pub(crate) null: OwnedFd,
    /// Given up for a moment when no other descriptor is free.
    pub(crate) spare: Option<OwnedFd>,
    /// Peers that were not let in.
    pub(crate) refusals: u64,
    pub(crate) connections: HashMap<u32, Connection>,
    /// The one that has said hello last.
    pub(crate) daemon: Option<u32>,
    pub(crate) stopping: bool,
    pub(crate) watched: HashMap<u32, InvocationId>,
    pub(crate) next_number: u32,
    pub(crate) epoll: OwnedFd,
    pub(crate) signals: OwnedFd,
    pub(crate) listener: Listener,
    /// It ends by itself after so long without a daemon and anything to keep.
    pub(crate) idle_limit: Option<Duration>,
    pub(crate) idle_since: Option<Instant>,
}

impl Keeper {
    /// Serves until it is told to end, or has been idle for long enough.
    ///
    /// # Errors
    /// epoll(7) fails.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        self.listen_to(&self.listener.socket, LISTENER, epoll::EventFlags::IN)?;
        self.listen_to(&self.signals, SIGNALS, epoll::EventFlags::IN)?;
        if let Some(memory) = &self.memory {
            self.listen_to(memory.descriptor(), MEMORY, epoll::EventFlags::IN)?;
        }
        // A child of an earlier life of this process, if there is any, has to be reaped too.
        self.reap();
        let mut events = Vec::with_capacity(EVENTS);
        while !self.is_done() {
            let timeout = self
                .next_deadline()
                .map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            events.clear();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                self.dispatch(event.data.u64());
            }
            self.meet_deadlines(Instant::now());
            self.flush_all();
        }
        Ok(())
    }

    fn dispatch(&mut self, token: u64) {
        let number = u32::try_from(token & !KINDS).unwrap_or(0);
        match token & KINDS {
            LISTENER => self.accept(),
            SIGNALS => self.take_signals(),
            CONNECTION => self.serve(number),
            MEMORY => self.take_memory_events(),
            _ => {
                if let Some(invocation) = self.watched.get(&number).cloned() {
                    if self
                        .units
                        .get(&invocation)
                        .is_none_or(|unit| unit.cgroup.is_none())
                    {
                        self.watched.remove(&number);
                    }
                    self.settle(&invocation);
                }
            }
        }
    }

    fn take_signals(&mut self) {
        for number in signal::received(&self.signals) {
            match number {
                libc::SIGCHLD => self.reap(),
                _ => self.begin_shutdown(),
            }
        }
    }

    /// Tells of every run whose main process goes on after the kernel killed another of its processes.
    fn take_memory_events(&mut self) {
        let changed = self.memory.as_mut().map(MemoryWatch::changed);
        for invocation in changed.unwrap_or_default() {
            let (Some(hierarchy), Some(unit)) = (&self.hierarchy, self.units.get_mut(&invocation))
            else {
                continue;
            };
            let directory = unit
                .cgroup
                .as_ref()
                .map(|cgroup| cgroup.directory(hierarchy));
            let kills = directory.map_or(0, |directory| kills_in(&directory));
            let rose = kills > std::mem::replace(&mut unit.oom_kills, kills);
            if rose && unit.has_main() {
                self.tell(&Event::OomKilled { invocation });
            }
        }
    }

    /// Ends every run by its own way, within bounds; asked a second time, at once.
    fn begin_shutdown(&mut self) {
        let at_once = self.stopping;
        self.stopping = true;
        let runs: Vec<_> = self
            .units
            .iter()
            .filter(|(_, unit)| !unit.has_ended())
            .map(|(invocation, unit)| {
                let mut sequence = unit.sequence.clone();
                let bound = if at_once { Duration::ZERO } else { SHUTDOWN };
                let bound = u64::try_from(bound.as_micros()).unwrap_or(u64::MAX);
                sequence.timeout_usec = Some(
                    sequence
                        .timeout_usec
                        .map_or(bound, |timeout| timeout.min(bound)),
                );
                (invocation.clone(), sequence)
            })
            .collect();
        for (invocation, sequence) in runs {
            // What the first signal cannot reach gets the last one at the deadline.
            self.stop(&invocation, sequence).ok();
            self.settle(&invocation);
        }
    }

    fn is_done(&self) -> bool {
        if self.stopping {
            return self.units.values().all(Unit::has_ended);
        }
        self.idle_limit
            .zip(self.idle_since)
            .is_some_and(|(limit, since)| since.elapsed() >= limit)
    }

    /// Whether nobody would miss the keeper.
    fn is_idle(&self) -> bool {
        self.units.is_empty() && self.connections.is_empty()
    }

    fn next_deadline(&mut self) -> Option<Instant> {
        self.idle_since = if self.is_idle() {
            self.idle_since.or_else(|| Some(Instant::now()))
        } else {
            None
        };
        let idle = self
            .idle_limit
            .zip(self.idle_since)
            .and_then(|(limit, since)| since.checked_add(limit));
        let units = self
            .units
            .values()
            .filter(|unit| !unit.has_ended())
            .filter_map(Unit::deadline);
        units.chain(idle).min()
    }

    /// Sends an event to the daemon, if one is there; the list tells it later otherwise.
    pub(crate) fn tell(&mut self, event: &Event) {
        if let Some(connection) = self
            .daemon
            .and_then(|number| self.connections.get_mut(&number))
        {
            let known =
                !matches!(event, Event::OomKilled { .. }) || connection.can(FEATURE_OOM_EVENT);
            if known {
                connection.event(event);
            }
        }
    }

    /// Has the loop settle the run whenever its cgroup may have become empty.
    pub(crate) fn watch_cgroup(&mut self, invocation: &InvocationId) {
        if self.watched.values().any(|watched| watched == invocation) {
            return;
        }
        let number = self.number();
        let (Some(hierarchy), Some(unit)) = (&self.hierarchy, self.units.get_mut(invocation))
        else {
            return;
        };
        let Some(Ok(file)) = unit.cgroup.as_mut().map(|cgroup| cgroup.watch(hierarchy)) else {
            return;
        };
        let data = epoll::EventData::new_u64(CGROUP | u64::from(number));
        if epoll::add(&self.epoll, file, data, epoll::EventFlags::PRI).is_ok() {
            self.watched.insert(number, invocation.clone());
        }
    }

    /// Has the loop serve a connection.
    pub(crate) fn listen_to_connection(
        &self,
        socket: impl AsFd,
        number: u32,
        write: bool,
    ) -> io::Result<()> {
        let data = epoll::EventData::new_u64(CONNECTION | u64::from(number));
        let mut flags = epoll::EventFlags::IN;
        if write {
            flags |= epoll::EventFlags::OUT;
        }
        match epoll::add(&self.epoll, &socket, data, flags) {
            Err(Errno::EXIST) => Ok(epoll::modify(&self.epoll, &socket, data, flags)?),
            result => Ok(result?),
        }
    }

    fn listen_to(&self, source: impl AsFd, token: u64, flags: epoll::EventFlags) -> io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            source,
            epoll::EventData::new_u64(token),
            flags,
        )?)
    }

    /// A number that nothing else has now.
    pub(crate) fn number(&mut self) -> u32 {
        loop {
            self.next_number = self.next_number.wrapping_add(1);
            let number = self.next_number;
            if !self.connections.contains_key(&number) && !self.watched.contains_key(&number) {
                return number;
            }
        }
    }
}

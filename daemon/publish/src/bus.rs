//! The bus.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use harness_model::{Event, EventBody, Timestamp};

use crate::{history::History, queue::Queue, subscription::Subscription};

/// Hands each event to all who watch, in one order. A handle; cheap to clone. When the last one is
/// gone, or [`Bus::close`] was called, each subscription ends after what still waits for it.
#[derive(Clone, Debug)]
pub struct Bus {
    shared: Arc<Shared>,
}

/// Changes an event before anybody sees it.
pub type Filter = Box<dyn Fn(&mut EventBody) + Send + Sync>;

pub(crate) struct Shared {
    /// Tells the starts of the daemon apart, like the kernel's boot id.
    boot: String,
    /// Subscribers that want live output.
    output_readers: AtomicUsize,
    filter: Option<Filter>,
    state: Mutex<State>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Shared")
            .field("boot", &self.boot)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct State {
    /// The number of the last event.
    seq: u64,
    history: History,
    queues: Vec<Arc<Queue>>,
    closed: bool,
}

impl Bus {
    /// A bus that keeps the newest `history` events for those who come back. Live output is not
    /// among them.
    #[must_use]
    pub fn new(history: usize) -> Self {
        Self::made(history, None)
    }

    /// The same; every event goes through `filter` once, before it has a number.
    #[must_use]
    pub fn filtered(history: usize, filter: Filter) -> Self {
        Self::made(history, Some(filter))
    }

    fn made(history: usize, filter: Option<Filter>) -> Self {
        Self {
            shared: Arc::new(Shared {
                boot: uuid::Uuid::now_v7().simple().to_string(),
                output_readers: AtomicUsize::new(0),
                filter,
                state: Mutex::new(State {
                    seq: 0,
                    history: History::new(history),
                    queues: Vec::new(),
                    closed: false,
                }),
            }),
        }
    }

    /// Publishes an event and gives back its number, counted from 1. Never waits for a reader. Live
    /// output that nobody watches gets no number of its own: the last one is given back.
    #[expect(
        clippy::must_use_candidate,
        reason = "most callers do not care for the number"
    )]
    pub fn publish(&self, mut body: EventBody) -> u64 {
        let output = matches!(body, EventBody::ShellOutput { .. });
        if let Some(filter) = &self.shared.filter {
            filter(&mut body);
        }
        let mut state = self.shared.lock();
        if output && !self.wants_output() {
            return state.seq;
        }
        state.seq += 1;
        let seq = state.seq;
        let at = Timestamp::from(SystemTime::now());
        let event = Arc::new(Event { seq, at, body });
        if !output {
            state.history.push(&event);
        }
        // Under the lock: every reader sees the same order.
        for queue in &state.queues {
            queue.push(&event);
        }
        seq
    }

    /// Whether somebody watches live output, so that it is worth reading it.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        self.shared.output_readers.load(Ordering::Relaxed) > 0
    }

    /// Watches from now on, or from the event with the id `after` ([`Bus::id_of`]).
    ///
    /// A reader that comes back too late first gets `dropped`, then what is left. So does one whose id
    /// is from before the start of this daemon or is no id at all: it then gets all that is left.
    #[must_use]
    pub fn subscribe(&self, after: Option<&str>) -> Subscription {
        self.watch(after, true)
    }

    /// The same without live output.
    #[must_use]
    pub fn subscribe_without_output(&self, after: Option<&str>) -> Subscription {
        self.watch(after, false)
    }

    fn watch(&self, after: Option<&str>, output: bool) -> Subscription {
        let queue = Arc::new(Queue::new(output));
        let mut state = self.shared.lock();
        if let Some(id) = after {
            if let Some(seq) = self.seq_of(id).filter(|seq| *seq <= state.seq) {
                let (gap, events) = state.history.after(seq);
                queue.start_with(gap, events);
            } else {
                let (gap, events) = state.history.all();
                queue.start_with(gap, events);
            }
        }
        if state.closed {
            queue.close();
        } else {
            state.queues.push(Arc::clone(&queue));
            if output {
                self.shared.output_readers.fetch_add(1, Ordering::Relaxed);
            }
        }
        drop(state);
        Subscription::new(queue, Arc::downgrade(&self.shared))
    }

    /// What SSE calls the event's id: `BOOT-SEQ`.
    #[must_use]
    pub fn id_of(&self, event: &Event) -> String {
        format!("{}-{}", self.shared.boot, event.seq)
    }

    /// Ends every subscription after what still waits for it, and those that come later at once.
    pub fn close(&self) {
        self.shared.close();
    }

    /// None unless the id is one of this start of the daemon.
    fn seq_of(&self, id: &str) -> Option<u64> {
        let (boot, seq) = id.split_once('-')?;
        (boot == self.shared.boot)
            .then(|| seq.parse().ok())
            .flatten()
    }
}

impl Shared {
    pub(crate) fn forget(&self, queue: &Arc<Queue>) {
        let mut state = self.lock();
        let before = state.queues.len();
        state.queues.retain(|other| !Arc::ptr_eq(other, queue));
        if queue.output && state.queues.len() < before {
            self.output_readers.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for queue in state.queues.drain(..) {
            queue.close();
        }
        self.output_readers.store(0, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

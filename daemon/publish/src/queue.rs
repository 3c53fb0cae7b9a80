//! What waits for one subscriber.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use harness_model::{Event, EventBody};

/// Events that may wait for one reader.
pub(crate) const LAG: usize = 1024;

/// Of these, how many may be live output: a flood of it must not push out what matters.
pub(crate) const OUTPUT_LAG: usize = LAG / 2;

/// Events that a reader did not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) count: u64,
    /// The number of the last of them.
    pub(crate) last: u64,
}

#[derive(Debug)]
enum Item {
    Event(Arc<Event>),
    Gap(Gap),
}

/// What a reader gets next.
#[derive(Debug)]
pub(crate) enum Next {
    Event(Arc<Event>),
    Gap(Gap),
    Closed,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    /// What was dropped before the first of `items`.
    lost: Option<Gap>,
    waker: Option<Waker>,
    closed: bool,
    /// Events of the past that a reader who came back finds waiting; they take no room from new ones.
    backlog: usize,
}

/// A bounded queue that drops its oldest events rather than making the publisher wait.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Whether live output is wanted.
    pub(crate) output: bool,
    state: Mutex<State>,
}

impl Queue {
    pub(crate) fn new(output: bool) -> Self {
        Self {
            output,
            state: Mutex::default(),
        }
    }

    /// Something that is to be read before all that comes later; only before the first `push`.
    pub(crate) fn start_with(&self, gap: Option<Gap>, events: impl Iterator<Item = Arc<Event>>) {
        let mut state = self.lock();
        state.lost = gap;
        state.items.extend(events.map(Item::Event));
        state.backlog = state.items.len();
    }

    pub(crate) fn push(&self, event: &Arc<Event>) {
        let mut state = self.lock();
        if matches!(event.body, EventBody::ShellOutput { .. }) {
            if !self.output {
                return;
            }
            if state.items.len() >= state.backlog + OUTPUT_LAG {
                state.skip(event.seq);
                return;
            }
        }
        if state.items.len() >= state.backlog + LAG {
            state.drop_oldest();
        }
        state.items.push_back(Item::Event(Arc::clone(event)));
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Next> {
        let mut state = self.lock();
        if let Some(next) = state.next() {
            return Poll::Ready(next);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            waker @ None => *waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// What waits already, if anything does.
    pub(crate) fn try_next(&self) -> Option<Next> {
        self.lock().next()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> Option<Next> {
        if let Some(gap) = self.lost.take() {
            return Some(Next::Gap(gap));
        }
        match self.items.pop_front() {
            Some(Item::Event(event)) => Some(Next::Event(event)),
            Some(Item::Gap(gap)) => Some(Next::Gap(gap)),
            None if self.closed => Some(Next::Closed),
            None => None,
        }
    }

    /// Leaves out the newest event, in its place.
    fn skip(&mut self, seq: u64) {
        if let Some(Item::Gap(gap)) = self.items.back_mut() {
            gap.count += 1;
            gap.last = seq;
        } else {
            self.items.push_back(Item::Gap(Gap {
                count: 1,
                last: seq,
            }));
        }
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.items.pop_front() else {
            return;
        };
        let dropped = match oldest {
            Item::Event(event) => Gap {
                count: 1,
                last: event.seq,
            },
            Item::Gap(gap) => gap,
        };
        let before = self.lost.map_or(0, |gap| gap.count);
        self.lost = Some(Gap {
            count: before + dropped.count,
            last: dropped.last,
        });
    }
}

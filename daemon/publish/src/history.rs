//! The newest events, for readers that come back.

use std::{collections::VecDeque, sync::Arc};

use harness_model::Event;

use crate::queue::Gap;

/// A ring of the newest events, live output left out.
#[derive(Debug)]
pub(crate) struct History {
    capacity: usize,
    events: VecDeque<Arc<Event>>,
    /// How many were pushed out of the ring, and the number of the last one.
    evicted: Gap,
}

impl History {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            events: VecDeque::new(),
            evicted: Gap { count: 0, last: 0 },
        }
    }

    pub(crate) fn push(&mut self, event: &Arc<Event>) {
        let evicted = if self.capacity == 0 {
            Some(Arc::clone(event))
        } else if self.events.len() >= self.capacity {
            self.events.pop_front()
        } else {
            None
        };
        if let Some(evicted) = evicted {
            self.evicted.count += 1;
            self.evicted.last = evicted.seq;
        }
        if self.capacity > 0 {
            self.events.push_back(Arc::clone(event));
        }
    }

    /// What came after `seq`, and what of it is gone. The count is exact unless live output lies
    /// between; then it may count some of that.
    pub(crate) fn after(&self, seq: u64) -> (Option<Gap>, impl Iterator<Item = Arc<Event>> + '_) {
        let lost = self
            .evicted
            .last
            .saturating_sub(seq)
            .min(self.evicted.count);
        let gap = (lost > 0).then_some(Gap {
            count: lost,
            last: self.evicted.last,
        });
        let start = self.events.partition_point(|event| event.seq <= seq);
        (gap, self.events.range(start..).map(Arc::clone))
    }

    /// All that is left, and a gap in any case: the reader comes from before this history.
    pub(crate) fn all(&self) -> (Option<Gap>, impl Iterator<Item = Arc<Event>> + '_) {
        let gap = Gap {
            count: self.evicted.count.max(1),
            last: self.evicted.last,
        };
        (Some(gap), self.events.iter().map(Arc::clone))
    }
}

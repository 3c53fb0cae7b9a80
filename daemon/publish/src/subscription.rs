//! One reader of the bus.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
    time::SystemTime,
};

use futures_util::Stream;
use harness_model::{Event, EventBody, Timestamp};

use crate::{
    bus::Shared,
    queue::{Next, Queue},
};

/// Events in their order, as a `next` or as a stream. A reader that is too slow loses the oldest
/// ones and gets `dropped` in their place; its number is that of the last one lost, so that a
/// reader who comes back with it continues after them.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
    bus: Weak<Shared>,
}

impl Subscription {
    pub(crate) fn new(queue: Arc<Queue>, bus: Weak<Shared>) -> Self {
        Self { queue, bus }
    }

    /// The next event; none when the bus is closed. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The next event, if it waits already.
    pub(crate) fn try_next(&mut self) -> Option<Arc<Event>> {
        self.queue.try_next().and_then(event)
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        self.queue.poll(context).map(event)
    }
}

fn event(next: Next) -> Option<Arc<Event>> {
    match next {
        Next::Event(event) => Some(event),
        Next::Gap(gap) => Some(Arc::new(Event {
            seq: gap.last,
            at: Timestamp::from(SystemTime::now()),
            body: EventBody::Dropped { count: gap.count },
        })),
        Next::Closed => None,
    }
}

impl Stream for Subscription {
    type Item = Arc<Event>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        self.poll(context)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.upgrade() {
            bus.forget(&self.queue);
        }
    }
}

//! Whether a result reached the one who asked.

use std::{
    fmt,
    mem::take,
    sync::{Arc, Mutex, PoisonError},
};

type Settle = Box<dyn FnOnce(bool) + Send>;

/// What hangs on a result's arrival, such as a task's wake, which is not due when the caller has the end in hand.
///
/// A tool registers with [`Delivery::on_settled`]; the front settles once the result is written, or drops the
/// last clone when it cannot be, which counts as not delivered.
#[derive(Clone, Default)]
pub struct Delivery(Arc<Pending>);

#[derive(Default)]
struct Pending(Mutex<Vec<Settle>>);

impl Delivery {
    /// Has `settle` called once with whether the result arrived.
    pub fn on_settled(&self, settle: impl FnOnce(bool) + Send + 'static) {
        self.0
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Box::new(settle));
    }

    /// The result has arrived, as far as the front can tell.
    pub fn delivered(&self) {
        self.0.settle(true);
    }
}

impl Pending {
    fn settle(&self, delivered: bool) {
        let pending = take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for settle in pending {
            settle(delivered);
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.settle(false);
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Delivery")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_was_written_is_settled_once_as_delivered() {
        let (sender, receiver) = channel();
        let delivery = Delivery::default();
        delivery.on_settled(move |delivered| sender.send(delivered).unwrap());
        delivery.clone().delivered();
        drop(delivery);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [true]);
    }

    #[test]
    fn what_nobody_wrote_is_not_delivered() {
        let (sender, receiver) = channel();
        let delivery = Delivery::default();
        delivery.on_settled(move |delivered| sender.send(delivered).unwrap());
        let clone = delivery.clone();
        drop(delivery);
        assert!(receiver.try_recv().is_err());
        drop(clone);
        assert_eq!(receiver.recv(), Ok(false));
    }
}

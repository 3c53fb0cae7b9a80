//! Which answers reached the client.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use harness_model::Delivery;
use rmcp::model::RequestId;

/// What hangs on answers that are not written yet. Clones are the same list; what is in it when the
/// last clone goes was not delivered.
#[derive(Clone, Default)]
pub(crate) struct Deliveries(Arc<Mutex<HashMap<RequestId, Delivery>>>);

impl Deliveries {
    /// Something may hang on the answer to this request.
    pub(crate) fn expect(&self, request: RequestId, delivery: Delivery) {
        self.list().insert(request, delivery);
    }

    /// The answer is on its way, or never will be: whoever takes this settles it or drops it.
    pub(super) fn take(&self, request: &RequestId) -> Option<Delivery> {
        self.list().remove(request)
    }

    fn list(&self) -> MutexGuard<'_, HashMap<RequestId, Delivery>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

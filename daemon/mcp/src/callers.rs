//! Sessions of HTTP callers that have none: in the 2026-07-28 protocol each request stands alone,
//! while the loop breaker counts per session. Requests of one view that give the same client name
//! are taken as one session.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use harness_model::SessionId;

use crate::{
    backend::{Backend, View},
    session::client_name,
};

/// Callers that are remembered; the one that has been silent for longest goes first.
const CALLERS_MAX: usize = 256;

struct Caller {
    session: SessionId,
    /// The count of requests when it last called.
    last: u64,
}

#[derive(Default)]
struct Known {
    callers: HashMap<(View, String), Caller>,
    requests: u64,
}

/// The callers of one router.
pub(crate) struct Callers {
    backend: Arc<dyn Backend>,
    known: Mutex<Known>,
}

impl Callers {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        Self {
            backend,
            known: Mutex::default(),
        }
    }

    /// The caller's session; a new one is opened.
    pub(crate) fn session(&self, view: &View, client: &str) -> SessionId {
        let name = client_name(client);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.requests += 1;
        let now = known.requests;
        let key = (view.clone(), name);
        if let Some(caller) = known.callers.get_mut(&key) {
            caller.last = now;
            return caller.session.clone();
        }
        if known.callers.len() >= CALLERS_MAX {
            let oldest = known.callers.iter().min_by_key(|(_, caller)| caller.last);
            let oldest = oldest.map(|(key, _)| key.clone());
            if let Some(gone) = oldest.and_then(|key| known.callers.remove(&key)) {
                self.backend.session_closed(&gone.session);
            }
        }
        let session = SessionId::generate();
        self.backend.session_opened(&session, &key.1);
        let caller = Caller {
            session: session.clone(),
            last: now,
        };
        known.callers.insert(key, caller);
        session
    }
}

impl Drop for Callers {
    fn drop(&mut self) {
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        for caller in known.callers.values() {
            self.backend.session_closed(&caller.session);
        }
    }
}

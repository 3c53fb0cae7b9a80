//! Who is connected.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use harness_model::SessionId;

/// The clients that have introduced themselves and are still there.
#[derive(Default)]
pub(crate) struct Sessions {
    clients: Mutex<HashMap<SessionId, String>>,
}

impl Sessions {
    pub(crate) fn opened(&self, session: &SessionId, client: &str) {
        tracing::info!(%session, client, "session opened");
        self.clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(session.clone(), client.to_owned());
    }

    pub(crate) fn closed(&self, session: &SessionId) {
        tracing::info!(%session, "session closed");
        self.clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(session);
    }

    /// The name that the client gave itself.
    pub(crate) fn client(&self, session: &SessionId) -> Option<String> {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.get(session).cloned()
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(
            self.clients
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .len(),
        )
        .unwrap_or(u32::MAX)
    }
}

//! One client's session: its id, what it wants to hear, and its end.

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicU8, Ordering},
};

use harness_model::SessionId;
use rmcp::{Peer, RoleServer};
use tokio::{sync::broadcast, task::AbortHandle};

use crate::{
    backend::{Backend, Notice},
    notice,
};

/// The longest client name that is passed on, in characters.
const CLIENT_NAME_MAX: usize = 128;

/// The place of `info` among the levels of RFC 5424 as MCP orders them: debug 0 to emergency 7.
const INFO: u8 = 1;

/// Opened when the client has introduced itself, closed when it is dropped.
pub(crate) struct Session {
    backend: Arc<dyn Backend>,
    id: OnceLock<SessionId>,
    level: Arc<AtomicU8>,
    /// Subscribed to when the session opens, so that nothing is missed until the client is ready.
    early: Mutex<Option<broadcast::Receiver<Notice>>>,
    relay: OnceLock<AbortHandle>,
}

impl Session {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        Self {
            backend,
            id: OnceLock::new(),
            level: Arc::new(AtomicU8::new(INFO)),
            early: Mutex::new(None),
            relay: OnceLock::new(),
        }
    }

    /// The id, once the session is open.
    pub(crate) fn id(&self) -> Option<&SessionId> {
        self.id.get()
    }

    /// Opens the session unless it is open.
    pub(crate) fn open(&self, client: &str) -> &SessionId {
        self.id.get_or_init(|| {
            let id = SessionId::generate();
            self.backend.session_opened(&id, &client_name(client));
            id
        })
    }

    /// Begins to collect notices for a client that will be ready for them later.
    pub(crate) fn collect_notices(&self) {
        *self.early.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.backend.notices());
    }

    /// Passes notices on to the client until the session ends. The second call does nothing.
    pub(crate) fn relay_notices(&self, peer: Peer<RoleServer>) {
        let early = self
            .early
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(notices) = early {
            let level = Arc::clone(&self.level);
            let task = tokio::spawn(notice::relay(notices, peer, level));
            self.relay.get_or_init(|| task.abort_handle());
        }
    }

    /// From now on the client wants log messages of this level and above only.
    pub(crate) fn set_level(&self, level: u8) {
        self.level.store(level, Ordering::Relaxed);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(relay) = self.relay.get() {
            relay.abort();
        }
        if let Some(id) = self.id.get() {
            self.backend.session_closed(id);
        }
    }
}

/// A client's name as it is passed on: cut, without control characters.
pub(crate) fn client_name(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_control())
        .take(CLIENT_NAME_MAX)
        .collect()
}

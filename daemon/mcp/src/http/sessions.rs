//! HTTP sessions: rmcp's, with a limit in number and each bound to its view.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{Stream, StreamExt, stream};
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError, SessionTransport},
    },
};

use crate::backend::View;

/// Sessions at once, over all views.
const SESSIONS_MAX: usize = 256;

/// An idle session is kept this long.
const KEEP_ALIVE: Duration = Duration::from_hours(24);

/// How long the end of a session may hold up the beginning of another one.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Messages of a stream that are kept for a client that resumes it.
const REPLAY: usize = 64;

struct Entry {
    view: View,
    /// The count of uses when it was last used.
    last: u64,
    /// Open response streams.
    streams: usize,
    unanswered: HashSet<RequestId>,
}

#[derive(Default)]
struct Table {
    entries: HashMap<SessionId, Entry>,
    uses: u64,
}

/// The sessions of all views of one router.
pub(crate) struct Sessions {
    local: LocalSessionManager,
    table: Mutex<Table>,
    limit: usize,
}

impl Sessions {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_limit(SESSIONS_MAX)
    }

    pub(crate) fn with_limit(limit: usize) -> Arc<Self> {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(KEEP_ALIVE);
        local.session_config.channel_capacity = REPLAY;
        Arc::new(Self {
            local,
            table: Mutex::default(),
            limit,
        })
    }

    /// Those of one view.
    pub(crate) fn of(self: &Arc<Self>, view: View) -> ViewSessions {
        ViewSessions {
            sessions: Arc::clone(self),
            view,
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends sessions until there is room for one more: those without open streams first, and of
    /// those the one that was not used for longest.
    async fn make_room(&self) {
        loop {
            let oldest = self.table().excess(self.limit);
            let Some(oldest) = oldest else {
                return;
            };
            tracing::info!(session = %oldest, "too many sessions: the oldest idle one is closed");
            let closing = self.local.close_session(&oldest);
            // rmcp's session waits for a client that does not read. It is out of the table, and ends
            // when that client hangs up.
            match tokio::time::timeout(CLOSE_TIMEOUT, closing).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "an idle session was not closed"),
                Err(_elapsed) => tracing::warn!(session = %oldest, "a session is stuck"),
            }
        }
    }
}

impl Table {
    fn used(&mut self, id: &SessionId) -> Option<&mut Entry> {
        self.uses += 1;
        let entry = self.entries.get_mut(id)?;
        entry.last = self.uses;
        Some(entry)
    }

    /// Takes the session out that has to go, if one has to.
    fn excess(&mut self, limit: usize) -> Option<SessionId> {
        if self.entries.len() < limit {
            return None;
        }
        let oldest = self
            .entries
            .iter()
            .min_by_key(|(_, entry)| (!entry.unanswered.is_empty(), entry.streams > 0, entry.last));
        let oldest = oldest.map(|(id, _)| SessionId::clone(id))?;
        self.entries.remove(&oldest);
        Some(oldest)
    }
}

/// The sessions of one view; one of another view does not exist here.
pub(crate) struct ViewSessions {
    sessions: Arc<Sessions>,
    view: View,
}

/// An open response stream.
struct OpenStream {
    sessions: Arc<Sessions>,
    id: SessionId,
    request: Option<RequestId>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some(entry) = table.used(&self.id) {
            entry.streams = entry.streams.saturating_sub(1);
            if let Some(request) = &self.request {
                entry.unanswered.remove(request);
            }
        }
    }
}

impl ViewSessions {
    /// Whether the session exists in this view.
    pub(crate) fn contains(&self, id: &str) -> bool {
        let table = self.sessions.table();
        let entry = table.entries.get(id);
        entry.is_some_and(|entry| entry.view == self.view)
    }

    /// Registers the stream of a request. Fails with its id when that is unanswered already.
    fn answer_stream(
        &self,
        id: &SessionId,
        request: Option<RequestId>,
    ) -> Result<OpenStream, RequestId> {
        if let Some(request) = &request
            && let Some(entry) = self.sessions.table().entries.get_mut(id)
            && !entry.unanswered.insert(request.clone())
        {
            return Err(request.clone());
        }
        let mut open = self.standing_stream(id);
        open.request = request;
        Ok(open)
    }

    /// Registers a stream that answers no request.
    fn standing_stream(&self, id: &SessionId) -> OpenStream {
        if let Some(entry) = self.sessions.table().used(id) {
            entry.streams += 1;
        }
        OpenStream {
            sessions: Arc::clone(&self.sessions),
            id: SessionId::clone(id),
            request: None,
        }
    }
}

impl OpenStream {
    /// The same messages; the stream counts as open until it is dropped.
    fn hold<S>(self, messages: S) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static
    where
        S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    {
        messages.inspect(move |_| {
            let _held = &self;
        })
    }
}

impl SessionManager for ViewSessions {
    type Error = LocalSessionManagerError;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.sessions.make_room().await;
        let (id, transport) = self.sessions.local.create_session().await?;
        let mut table = self.sessions.table();
        table.uses += 1;
        let entry = Entry {
            view: self.view.clone(),
            last: table.uses,
            streams: 0,
            unanswered: HashSet::new(),
        };
        table.entries.insert(SessionId::clone(&id), entry);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.sessions.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.contains(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.sessions.table().entries.remove(id);
        self.sessions.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            ClientJsonRpcMessage::Notification(_)
            | ClientJsonRpcMessage::Response(_)
            | ClientJsonRpcMessage::Error(_) => None,
        };
        let open = match self.answer_stream(id, request) {
            Ok(open) => open,
            Err(request) => {
                let message = format!("the request id {request} is in use");
                let error = ErrorData::invalid_request(message, None);
                let answer = ServerJsonRpcMessage::error(error, Some(request));
                let event = ServerSseMessage::from_message(answer);
                return Ok(stream::iter([event]).left_stream());
            }
        };
        let messages = self.sessions.local.create_stream(id, message).await?;
        Ok(open.hold(messages).right_stream())
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.sessions.table().used(id);
        self.sessions.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let messages = self.sessions.local.create_standalone_stream(id).await?;
        Ok(self.standing_stream(id).hold(messages))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let messages = self.sessions.local.resume(id, last_event_id).await?;
        Ok(self.standing_stream(id).hold(messages))
    }
}

//! What rmcp calls: one of these serves each connection, or each request of the stateless protocol.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use axum::http::request::Parts;
use harness_model::{CallContext, Delivery, Front, Refusal, SessionId};
use rmcp::{RoleServer, model::RequestId, service::RequestContext};
use tokio::sync::broadcast;

use crate::{
    backend::{Backend, Notice, View},
    callers::Callers,
    catalogue::Listing,
    elicit::States,
    peer::{Peer, RequestPeer, UnknownPeer},
    server::Shared,
    session::Session,
    stream::Deliveries,
};

/// Where a connection comes from.
pub(crate) enum Origin {
    /// A stream: everything on it is one session.
    Stream {
        /// The process at the other end.
        peer: Arc<dyn Peer>,
        /// Tells which answers got out.
        deliveries: Deliveries,
    },
    /// HTTP: a session when it was initialized, else one request among others of its caller.
    Http {
        /// The callers without a session.
        callers: Arc<Callers>,
    },
}

/// One connection's view of the harness.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    view: View,
    origin: Origin,
    session: Session,
    /// Subscribed to before a subscription is acknowledged, so that no change falls in between.
    subscribing: Mutex<VecDeque<broadcast::Receiver<Notice>>>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>, view: View, origin: Origin) -> Self {
        let session = Session::new(Arc::clone(shared.backend()));
        Self {
            shared,
            view,
            origin,
            session,
            subscribing: Mutex::default(),
        }
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        self.shared.backend()
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn listing(&self) -> Result<Arc<Listing>, Refusal> {
        self.shared.catalogue().listing(&self.view)
    }

    /// Who asks, without a way for progress.
    pub(crate) fn call_context(&self, context: &RequestContext<RoleServer>) -> CallContext {
        CallContext {
            front: self.front(),
            session: self.session_of(context),
            uid: self.uid(),
            parent: None,
            call: None,
            progress: None,
            delivery: self.delivery_of(&context.id),
            meta: Some(context.meta.0.0.clone()).filter(|meta| !meta.is_empty()),
            elicit: None,
        }
    }

    pub(crate) fn states(&self) -> &States {
        self.shared.states()
    }

    /// The process that sent a request.
    pub(crate) fn peer_of(&self, context: &RequestContext<RoleServer>) -> Arc<dyn Peer> {
        match &self.origin {
            Origin::Stream { peer, .. } => Arc::clone(peer),
            Origin::Http { .. } => {
                let parts = context.extensions.get::<Parts>();
                let peer = parts.and_then(|parts| parts.extensions.get::<RequestPeer>());
                peer.map_or_else(
                    || Arc::new(UnknownPeer(None)) as Arc<dyn Peer>,
                    |peer| Arc::clone(&peer.0),
                )
            }
        }
    }

    fn front(&self) -> Front {
        match self.origin {
            Origin::Stream { .. } => Front::Mcp,
            Origin::Http { .. } => Front::McpHttp,
        }
    }

    fn uid(&self) -> Option<u32> {
        match self.origin {
            Origin::Stream { ref peer, .. } => peer.uid(),
            Origin::Http { .. } => None,
        }
    }

    /// What hangs on the arrival of the answer to a request. What HTTP is handed counts as arrived.
    fn delivery_of(&self, request: &RequestId) -> Delivery {
        let delivery = Delivery::default();
        if let Origin::Stream { deliveries, .. } = &self.origin {
            deliveries.expect(request.clone(), delivery.clone());
        }
        delivery
    }

    /// An answer is ready: on HTTP nobody learns more than that.
    pub(crate) fn answered(&self, delivery: &Delivery) {
        match self.origin {
            Origin::Stream { .. } => {}
            Origin::Http { .. } => delivery.delivered(),
        }
    }

    /// The session a request belongs to. Without `initialize` a stream opens one with its first
    /// call, and HTTP requests that give the same client name share one.
    pub(crate) fn session_of(&self, context: &RequestContext<RoleServer>) -> SessionId {
        if let Some(id) = self.session.id() {
            return id.clone();
        }
        let client = context.client_info().map(|client| client.name);
        let client = client.unwrap_or_default();
        match &self.origin {
            Origin::Stream { .. } => self.session.open(&client).clone(),
            Origin::Http { callers } => callers.session(&self.view, &client),
        }
    }

    /// Subscribes for a `subscriptions/listen` request that is about to be acknowledged.
    pub(crate) fn subscribe(&self) {
        let notices = self.backend().notices();
        self.subscribing().push_back(notices);
    }

    /// The oldest such subscription.
    pub(crate) fn subscribed(&self) -> broadcast::Receiver<Notice> {
        let oldest = self.subscribing().pop_front();
        oldest.unwrap_or_else(|| self.backend().notices())
    }

    fn subscribing(&self) -> std::sync::MutexGuard<'_, VecDeque<broadcast::Receiver<Notice>>> {
        self.subscribing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the request belongs to the 2026-07-28 protocol or a later one.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| !version.has_initialize())
}

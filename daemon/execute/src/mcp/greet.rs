//! From a process or an address to a server that can be called.

use std::sync::{Arc, PoisonError};

use futures_util::{future::BoxFuture, stream::BoxStream};
use harness_model::Timestamp;

use super::{
    connection::{ConnectFailure, ConnectFault, Listing, ServerConnection, ServerNotice},
    offer,
    server::Shared,
    state::Phase,
};

/// A connection, and what the server says on it from its beginning.
pub(super) struct Greeted {
    pub(super) connection: Arc<dyn ServerConnection>,
    pub(super) notices: BoxStream<'static, ServerNotice>,
    listing: Listing,
}

impl Shared {
    /// Greets a server and lists its tools, within the time it has for that.
    pub(super) async fn greet(
        &self,
        connecting: BoxFuture<'static, Result<Arc<dyn ServerConnection>, ConnectFailure>>,
    ) -> Result<Greeted, ConnectFailure> {
        let limit = self.settings.timeout_start;
        let greeting = async {
            let connection = connecting.await?;
            // Listened to first, so that no change falls in between.
            let notices = connection.notices();
            let listing = connection.tools().await.map_err(|failure| ConnectFailure {
                why: format!("its tools cannot be listed: {failure}"),
                kind: ConnectFault::Passing,
            })?;
            Ok(Greeted {
                connection,
                notices,
                listing,
            })
        };
        match tokio::time::timeout(limit, greeting).await {
            Ok(greeted) => greeted,
            Err(_) => Err(ConnectFailure {
                why: format!("it did not say hello and list its tools within {limit:?}"),
                kind: ConnectFault::Passing,
            }),
        }
    }

    /// From now on it can be called.
    pub(super) fn welcome(&self, greeted: &mut Greeted) {
        self.offer(std::mem::take(&mut greeted.listing));
        let connection = Arc::clone(&greeted.connection);
        let description = Arc::new(connection.description());
        let (name, protocol) = (&self.settings.name, &description.protocol);
        tracing::info!(server = %name, %protocol, "the MCP server is ready");
        self.set(|state| {
            state.phase = Phase::Ready(connection);
            state.description = Some(description);
            state.ready_since = Some(Timestamp::from(std::time::SystemTime::now()));
        });
    }

    /// Puts the tools that a server lists on offer.
    pub(super) fn offer(&self, listing: Listing) {
        let name = &self.settings.name;
        let complain = |text: &str| {
            let text = self.clean(text);
            tracing::warn!(server = %name, "the MCP server is not as it should be: {text}");
        };
        if let Some(warning) = listing.warning {
            complain(&format!("of its list of tools, {warning}"));
        }
        let allowed = self.settings.allowed.as_ref();
        let offered = Arc::new(offer::of(name, listing.tools, allowed, complain));
        let changed = {
            let mut current = self.offered.write().unwrap_or_else(PoisonError::into_inner);
            let changed = *current != offered;
            *current = Arc::clone(&offered);
            changed
        };
        if changed {
            let tools = u32::try_from(offered.len()).unwrap_or(u32::MAX);
            self.state.send_modify(|state| state.tools = tools);
            self.watcher.tools_changed(name);
        }
    }
}

//! A session is asked while its call is held.

use std::{pin::Pin, sync::Arc};

use harness_model::{Approval, Elicit, Elicited};
use rmcp::{
    Peer as Client, RoleServer,
    model::{ClientResult, ServerRequest},
    service::{PeerRequestOptions, RequestHandle, ServiceError},
};

use super::form;
use crate::peer::{self, Peer};

/// One call of a session whose client shows forms.
pub(crate) struct Held {
    client: Client<RoleServer>,
    peer: Arc<dyn Peer>,
}

impl Held {
    pub(super) fn new(client: Client<RoleServer>, peer: Arc<dyn Peer>) -> Self {
        Self { client, peer }
    }

    async fn show(&self, approval: &Approval) -> Option<Elicited> {
        if !peer::may_answer(&self.peer).await {
            return None;
        }
        let request = ServerRequest::ElicitRequest(form::request(approval)?);
        let options = PeerRequestOptions::no_options();
        let sent = self.client.send_cancellable_request(request, options).await;
        let reply = match sent {
            Ok(handle) => Shown(Some(handle)).reply().await,
            Err(error) => Err(error),
        };
        match reply {
            Ok(ClientResult::ElicitResult(reply)) => {
                let meaning = form::meaning(&reply, approval);
                if meaning.is_none() {
                    tracing::warn!(approval = %approval.id, "a client accepted with an answer that was not offered");
                }
                meaning
            }
            Ok(_) => {
                tracing::warn!(approval = %approval.id, "a client did not answer an elicitation as one");
                None
            }
            Err(error) => {
                tracing::info!(approval = %approval.id, %error, "a client could not be asked");
                None
            }
        }
    }
}

impl Elicit for Held {
    fn is_deferred(&self) -> bool {
        false
    }

    fn is_resumed(&self) -> bool {
        false
    }

    fn ask<'a>(
        &'a self,
        approval: &'a Approval,
    ) -> Pin<Box<dyn Future<Output = Elicited> + Send + 'a>> {
        Box::pin(async move { self.show(approval).await.unwrap_or(Elicited::Unanswered) })
    }
}

/// A form that is open at the client. Dropped before its reply, it is taken back.
struct Shown(Option<RequestHandle<RoleServer>>);

impl Shown {
    async fn reply(mut self) -> Result<ClientResult, ServiceError> {
        let Some(handle) = &mut self.0 else {
            return Err(ServiceError::TransportClosed);
        };
        let reply = (&mut handle.rx).await;
        self.0 = None;
        reply.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        tokio::spawn(async move {
            let reason = "the question was answered elsewhere, or the call is over";
            if let Err(error) = handle.cancel(Some(reason.to_owned())).await {
                tracing::debug!(%error, "a client that is gone keeps its form");
            }
        });
    }
}

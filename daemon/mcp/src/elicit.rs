//! Approvals asked by elicitation (form mode).
//!
//! The question is shown in the words of the approval's card. A session is asked while its call is held (2025-06-18
//! and 2025-11-25); a request of the stateless protocol is answered with `input_required`, and its client makes the call
//! again with the answer (SEP-2322).

mod deferred;
mod form;
mod held;
mod state;

use std::sync::Arc;

use harness_model::{Approval, Elicit, Refusal};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, InputRequest, InputRequiredResult},
    service::RequestContext,
};

pub(crate) use self::state::States;
use self::{deferred::Deferred, held::Held};
use crate::connection::{Connection, is_stateless};

/// The name of the one question among the input requests of a call.
const QUESTION: &str = "approval";

/// How the person in front of the client of one call is asked.
pub(crate) enum Elicitation {
    /// Not at all.
    Never,
    /// While the call is held.
    Held(Arc<Held>),
    /// Between two requests.
    Deferred {
        /// What the backend asks with.
        asker: Arc<Deferred>,
        /// What the state of this call is bound to.
        bound_to: Vec<u8>,
    },
}

impl Elicitation {
    /// What the call has with it.
    pub(crate) fn asker(&self) -> Option<Arc<dyn Elicit>> {
        match self {
            Self::Never => None,
            Self::Held(held) => Some(Arc::clone(held) as _),
            Self::Deferred { asker, .. } => Some(Arc::clone(asker) as _),
        }
    }
}

impl Connection {
    /// How the client of this call can be asked. The error is for an answer that belongs to no question.
    pub(crate) async fn elicitation(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Elicitation, ErrorData> {
        let declared = shows_forms(context);
        if !is_stateless(context) {
            return Ok(if declared {
                Elicitation::Held(Arc::new(Held::new(
                    context.peer.clone(),
                    self.peer_of(context),
                )))
            } else {
                Elicitation::Never
            });
        }
        let peer = self.peer_of(context);
        let bound_to = self.bound_to(request, context);
        let brought = match (&request.request_state, &request.input_responses) {
            (None, None) => None,
            (None, Some(_)) => return Err(state::foreign()),
            (Some(state), responses) => {
                let answer = responses.as_ref().and_then(|all| all.get(QUESTION));
                let answer = answer.map(form::parse).transpose()?;
                if !crate::peer::may_answer(&peer).await {
                    return Err(state::foreign());
                }
                let approval = self.states().redeem(state, &bound_to)?;
                Some((approval, answer))
            }
        };
        if !declared && brought.is_none() {
            return Ok(Elicitation::Never);
        }
        let asker = Arc::new(Deferred::new(peer, brought));
        Ok(Elicitation::Deferred { asker, bound_to })
    }

    /// The question that the refused call left behind, as the answer to its request.
    pub(crate) fn input_required(
        &self,
        elicitation: &Elicitation,
        refusal: &Refusal,
    ) -> Option<CallToolResponse> {
        let Elicitation::Deferred { asker, bound_to } = elicitation else {
            return None;
        };
        if refusal.code != harness_model::ErrorCode::NeedsApproval {
            return None;
        }
        let approval: Approval = asker.take_question()?;
        let state = self.states().issue(&approval, bound_to)?;
        let request = InputRequest::Elicitation(form::request(&approval)?);
        let requests = [(QUESTION.to_owned(), request)].into();
        Some(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// A state opens for the same call of the same caller alone.
    fn bound_to(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Vec<u8> {
        let session = self.session_of(context);
        let view = format!("{:?}", self.view());
        let call = serde_json::json!([session, view, request.name, request.arguments]);
        call.to_string().into_bytes()
    }
}

/// Whether the client declares elicitation in form mode; without a mode it means this one.
fn shows_forms(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    let declared = capabilities.and_then(|capabilities| capabilities.elicitation);
    declared.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

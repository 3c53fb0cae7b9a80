//! The person in front of the caller's own client, asked beside the one at `control.sock`.

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use harness_model::{Approval, Elicit, Elicited, ErrorCode};

use super::Approvals;

/// How to ask the client of one call.
pub(crate) struct Elicitation {
    /// The way to it.
    pub(crate) asker: Arc<dyn Elicit>,
    /// Who answers there, as the record names them.
    pub(crate) by: String,
    /// How long an answer stands.
    pub(crate) timeout: Duration,
}

impl Elicitation {
    /// As the record names who answered: the name is the client's own word, the session is not.
    pub(crate) fn answered_by(session: &str, client: Option<&str>, uid: Option<u32>) -> String {
        let client = harness_model::escape::text(client.unwrap_or_default());
        let uid = uid.map_or_else(String::new, |uid| format!(", uid {uid}"));
        format!("elicitation: session {session}{uid}, client {client:?}")
    }
}

impl Approvals {
    /// Asks the client whose answer comes with another request; true when this one has to end for it.
    pub(super) async fn elicit_deferred(
        &self,
        approval: &Approval,
        elicitation: Option<&Elicitation>,
    ) -> bool {
        let Some(elicitation) = elicitation.filter(|way| way.asker.is_deferred()) else {
            return false;
        };
        match elicitation.asker.ask(approval).await {
            Elicited::Answer(answer) => {
                self.answer_of(approval, answer, elicitation).await;
                false
            }
            Elicited::Unanswered => false,
            Elicited::Deferred => true,
        }
    }

    /// Asks the client of a held call and writes its answer; what becomes of that, the held call learns as any other.
    /// Never resolves: there may be another answer.
    pub(super) async fn elicit_held(
        &self,
        approval: &Approval,
        elicitation: Option<&Elicitation>,
    ) -> Infallible {
        if let Some(elicitation) = elicitation.filter(|way| !way.asker.is_deferred())
            && let Elicited::Answer(answer) = elicitation.asker.ask(approval).await
        {
            self.answer_of(approval, answer, elicitation).await;
        }
        pending().await
    }

    async fn answer_of(
        &self,
        approval: &Approval,
        answer: harness_model::Answer,
        elicitation: &Elicitation,
    ) {
        let Elicitation { by, timeout, .. } = elicitation;
        if let Err(refusal) = self.answer(approval.id, answer, by.clone(), *timeout).await {
            // Whoever answers first wins.
            let late = refusal.code == ErrorCode::ToolError;
            tracing::info!(approval = %approval.id, late, "an elicited answer has no effect: {}", refusal.message);
        }
    }
}

//! A request of the stateless protocol is answered with the question, and made again with the answer.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use harness_model::{Approval, ApprovalId, Elicit, Elicited};
use rmcp::model::ElicitResult;

use super::form;
use crate::peer::{self, Peer};

/// One call whose client shows forms, or brings the reply to one.
pub(crate) struct Deferred {
    peer: Arc<dyn Peer>,
    /// The approval whose state it brought, and the reply, if it had one.
    brought: Option<(ApprovalId, Option<ElicitResult>)>,
    question: Mutex<Option<Approval>>,
}

impl Deferred {
    pub(super) fn new(
        peer: Arc<dyn Peer>,
        brought: Option<(ApprovalId, Option<ElicitResult>)>,
    ) -> Self {
        Self {
            peer,
            brought,
            question: Mutex::new(None),
        }
    }

    /// The question that the client is to be asked, once.
    pub(super) fn take_question(&self) -> Option<Approval> {
        let mut question = self.question.lock().unwrap_or_else(PoisonError::into_inner);
        question.take()
    }

    /// What the client brought for this very question.
    fn brought_for(&self, approval: &Approval) -> Option<Elicited> {
        let (id, reply) = self.brought.as_ref()?;
        let reply = reply.as_ref().filter(|_| *id == approval.id)?;
        form::meaning(reply, approval)
    }
}

impl Elicit for Deferred {
    fn is_deferred(&self) -> bool {
        true
    }

    fn is_resumed(&self) -> bool {
        self.brought.is_some()
    }

    fn ask<'a>(
        &'a self,
        approval: &'a Approval,
    ) -> Pin<Box<dyn Future<Output = Elicited> + Send + 'a>> {
        Box::pin(async move {
            if let Some(answer) = self.brought_for(approval) {
                return answer;
            }
            if !peer::may_answer(&self.peer).await {
                return Elicited::Unanswered;
            }
            let mut question = self.question.lock().unwrap_or_else(PoisonError::into_inner);
            *question = Some(approval.clone());
            Elicited::Deferred
        })
    }
}

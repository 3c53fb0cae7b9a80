//! Approvals: a call that needs a person's answer, and the answers.
//!
//! The policy says that a call has to be asked about ([`harness_authorize`]); here it is asked, held for a
//! while, and let through or refused. A one-off yes is bound to the digest of the exact call and
//! used up in the same transaction that finds it.

mod answer;
mod digest;
mod elicit;
mod hold;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use harness_authorize::Grants;
use harness_model::{Approval, ApprovalId, ApprovalState, EventBody};
use harness_publish::Bus;
use harness_record::Record;
use tokio::sync::watch;

use crate::redact::Redactor;

pub(crate) use digest::{canonical, hex};
pub(crate) use elicit::Elicitation;
pub(crate) use hold::Patience;

/// The approvals of the harness.
pub(crate) struct Approvals {
    record: Record,
    bus: Bus,
    redactor: Redactor,
    grants: RwLock<Arc<Grants>>,
    /// Calls that are held, by the question they wait for.
    held: Mutex<HashMap<ApprovalId, watch::Sender<ApprovalState>>>,
    /// Changes when a question was asked, so that the clock for its expiry is set.
    asked: watch::Sender<()>,
}

impl Approvals {
    /// Reads the answers for good from the record.
    pub(crate) async fn open(
        record: Record,
        bus: Bus,
        redactor: Redactor,
    ) -> Result<Arc<Self>, harness_record::Error> {
        let approvals = Self {
            grants: RwLock::new(Arc::new(Grants::of(record.standing().await?))),
            record,
            bus,
            redactor,
            held: Mutex::default(),
            asked: watch::Sender::new(()),
        };
        Ok(Arc::new(approvals))
    }

    /// The answers for good.
    pub(crate) fn grants(&self) -> Arc<Grants> {
        self.grants
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn read_grants(&self) -> Result<(), harness_record::Error> {
        let grants = Arc::new(Grants::of(self.record.standing().await?));
        *self.grants.write().unwrap_or_else(PoisonError::into_inner) = grants;
        Ok(())
    }

    /// Tells whoever holds a call for it, and the world.
    fn resolved(&self, approval: &Approval) {
        let held = self
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&approval.id);
        if let Some(held) = held {
            held.send_replace(approval.state);
        }
        self.bus.publish(EventBody::ApprovalResolved {
            approval: approval.id,
            state: approval.state,
            answered_by: approval.answered_by.clone(),
        });
    }
}

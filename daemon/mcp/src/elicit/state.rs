//! The `requestState` of a question: sealed, bound to its approval and its call, and good for one answer.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use harness_model::{Approval, ApprovalId, Timestamp};
use rmcp::{
    ErrorData,
    model::{RequestStateCodec, SealOptions},
};
use serde::{Deserialize, Serialize};

/// Questions that may be out at once; beyond that, the oldest is forgotten and will be asked anew.
const OUT_MAX: usize = 1024;

/// What is sealed. It can be read by the client, and holds nothing that is a secret.
#[derive(Serialize, Deserialize)]
struct Sealed {
    /// The number of this state, so that it opens once.
    number: u64,
    approval: ApprovalId,
}

#[derive(Default)]
struct Out {
    numbers: BTreeSet<u64>,
    issued: u64,
}

/// The states of one daemon. They do not outlive it: a question that is still open is asked again.
pub(crate) struct States {
    /// None on a machine without random numbers.
    codec: Option<RequestStateCodec>,
    out: Mutex<Out>,
}

impl States {
    pub(crate) fn new() -> Self {
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        let codec = match getrandom::fill(&mut key) {
            Ok(()) => RequestStateCodec::try_new(key).ok(),
            Err(error) => {
                tracing::error!(%error, "no client without a session can be asked");
                None
            }
        };
        Self {
            codec,
            out: Mutex::default(),
        }
    }

    /// A state for this approval, `bound_to` the call that asked.
    pub(super) fn issue(&self, approval: &Approval, bound_to: &[u8]) -> Option<String> {
        let number = {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            out.issued += 1;
            let number = out.issued;
            out.numbers.insert(number);
            if out.numbers.len() > OUT_MAX {
                out.numbers.pop_first();
            }
            number
        };
        let sealed = Sealed {
            number,
            approval: approval.id,
        };
        let left = approval
            .expires_at
            .since(Timestamp::from(SystemTime::now()));
        let options = SealOptions::new().associated_data(bound_to).ttl(left);
        self.codec.as_ref()?.seal_json_with(&sealed, &options).ok()
    }

    /// The approval of a state that was issued for this call and has not come back yet.
    pub(super) fn redeem(&self, state: &str, bound_to: &[u8]) -> Result<ApprovalId, ErrorData> {
        let codec = self.codec.as_ref().ok_or_else(foreign)?;
        let sealed: Sealed = codec.open_json_with(state, bound_to).map_err(|error| {
            tracing::warn!(%error, "a request state that is not of this call was refused");
            foreign()
        })?;
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if !out.numbers.remove(&sealed.number) {
            tracing::warn!(approval = %sealed.approval, "a request state came back a second time and was refused");
            return Err(foreign());
        }
        Ok(sealed.approval)
    }
}

/// One answer for every state that does not open, so that it tells nothing of why.
pub(super) fn foreign() -> ErrorData {
    let message = "this requestState belongs to no open question of this call: make the call again without \
                   requestState and inputResponses";
    ErrorData::invalid_params(message, None)
}

#[cfg(test)]
mod tests {
    use harness_model::{ApprovalState, CallId, Front, Scope};

    use super::*;

    fn approval(id: i64) -> Approval {
        let now = Timestamp::from(SystemTime::now());
        Approval {
            id: ApprovalId(id),
            call: CallId::generate(),
            front: Front::Mcp,
            group: "bash".to_owned(),
            tool: "run".to_owned(),
            input: serde_json::Map::new(),
            cwd: "/".to_owned(),
            rule: String::new(),
            why: String::new(),
            scope: Scope::Tool,
            state: ApprovalState::Pending,
            created_at: now,
            expires_at: now.plus(std::time::Duration::from_mins(1)),
            answered_by: None,
        }
    }

    #[test]
    fn a_state_opens_once_for_its_own_call() {
        let states = States::new();
        let state = states.issue(&approval(7), b"call").unwrap();
        assert!(states.redeem(&state, b"other").is_err());
        assert_eq!(states.redeem(&state, b"call").unwrap(), ApprovalId(7));
        assert!(states.redeem(&state, b"call").is_err(), "a second time");
    }

    #[test]
    fn a_state_that_was_changed_made_up_or_sealed_by_another_daemon_opens_nothing() {
        let states = States::new();
        let state = states.issue(&approval(7), b"call").unwrap();
        let other = States::new().issue(&approval(7), b"call").unwrap();
        let mut parts: Vec<String> = state.split('.').map(str::to_owned).collect();
        let flipped = if parts[1].ends_with('A') { 'B' } else { 'A' };
        parts[1].pop();
        parts[1].push(flipped);
        for wrong in [
            parts.join("."),
            other,
            String::new(),
            "rs1..".to_owned(),
            state[..20].to_owned(),
        ] {
            let error = states.redeem(&wrong, b"call").unwrap_err();
            assert_eq!(error.message, foreign().message, "{wrong}");
        }
        states.redeem(&state, b"call").unwrap();
    }

    #[test]
    fn a_state_is_over_when_the_question_is_and_the_oldest_go_first() {
        let states = States::new();
        let mut over = approval(1);
        over.expires_at = Timestamp::from(SystemTime::now());
        let over = states.issue(&over, b"call").unwrap();
        let oldest = states.issue(&approval(2), b"call").unwrap();
        for _ in 0..OUT_MAX {
            states.issue(&approval(3), b"call").unwrap();
        }
        let newest = states.issue(&approval(4), b"call").unwrap();
        assert!(states.redeem(&over, b"call").is_err());
        assert!(states.redeem(&oldest, b"call").is_err());
        assert_eq!(states.redeem(&newest, b"call").unwrap(), ApprovalId(4));
        assert_eq!(states.out.lock().unwrap().numbers.len(), OUT_MAX - 1);
    }
}

//! What a session may do over and over.
//!
//! The loop breaker stands before the way of a call, for every front and every tool: an agent that makes the same call
//! again and again learns that it should do something else.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher},
    sync::{Mutex, PoisonError},
};

use harness_model::{CallContext, CallRequest, ErrorCode, Outcome, Refusal, SessionId};
use serde_json::{Value, json};

use crate::harness::Harness;

/// Sessions that are remembered; the one that has been silent for longest goes first.
const REMEMBERED: usize = 1024;

impl Harness {
    /// Every tool call of every front comes through here, and nothing else runs a tool.
    pub async fn call(&self, request: CallRequest, context: CallContext) -> Outcome {
        self.call_if(request, context, Ok(())).await
    }

    /// The same for a front that has limits of its own: what it does not find `admissible` is recorded and refused.
    pub(crate) async fn call_if(
        &self,
        request: CallRequest,
        context: CallContext,
        admissible: Result<(), Refusal>,
    ) -> Outcome {
        self.load_named(&request).await;
        let most = self.in_force().loaded.config.limits.identical_calls;
        let call = self.identity(&request);
        // What comes back with the answer to a question was counted when it was asked.
        let is_resumed = context
            .elicit
            .as_ref()
            .is_some_and(|asker| asker.is_resumed());
        let repetition = if is_resumed {
            Ok(())
        } else {
            self.repetition().check(&context.session, call, most)
        };
        let admissible = admissible.and(repetition);
        self.carry_out(request, context, admissible).await
    }

    /// What makes two calls identical: the tool, whichever of its names is used, and the arguments.
    fn identity(&self, request: &CallRequest) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self.catalogue().resolve(request) {
            Ok(entry) => (&entry.tool.group, &entry.tool.name).hash(&mut hasher),
            Err(_) => (&request.group, &request.tool).hash(&mut hasher),
        }
        hash_members(&request.input, &mut hasher);
        hasher.finish()
    }
}

/// Members are hashed in the order of their names, whatever order they came in.
fn hash_members(members: &serde_json::Map<String, Value>, hasher: &mut DefaultHasher) {
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    members.sort_by_key(|(name, _)| *name);
    members.len().hash(hasher);
    for (name, value) in members {
        name.hash(hasher);
        hash_value(value, hasher);
    }
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Null => {}
        Value::Bool(yes) => yes.hash(hasher),
        Value::Number(number) => number.to_string().hash(hasher),
        Value::String(text) => text.hash(hasher),
        Value::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_value(item, hasher);
            }
        }
        Value::Object(members) => hash_members(members, hasher),
    }
}

/// The last call of each session, and how often it was made in a row.
#[derive(Debug, Default)]
pub(crate) struct Repetition(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    sessions: HashMap<SessionId, Last>,
    /// Counts calls, to tell which session was silent for longest.
    calls: u64,
}

#[derive(Debug)]
struct Last {
    call: u64,
    times: u32,
    at: u64,
}

impl Repetition {
    /// Counts a call; refused with `ELOOP` when it was made `most` times in a row already. 0 lets everything through.
    pub(crate) fn check(&self, session: &SessionId, call: u64, most: u32) -> Result<(), Refusal> {
        let times = {
            let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            remembered.count(session, call)
        };
        if most == 0 || times <= most {
            return Ok(());
        }
        let message = format!(
            "ELOOP: this call was made {most} times in a row with the same arguments, and once more will not help. Change \
             the arguments, make another call first, wait longer in one call (wait_seconds), or say what you know"
        );
        Err(Refusal::new(ErrorCode::CallLimit, message).with_details(json!({ "code": "ELOOP" })))
    }

    /// A session that has ended is forgotten.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.sessions.remove(session);
    }
}

impl Remembered {
    fn count(&mut self, session: &SessionId, call: u64) -> u32 {
        self.calls += 1;
        let at = self.calls;
        if let Some(last) = self.sessions.get_mut(session) {
            last.times = if last.call == call {
                last.times.saturating_add(1)
            } else {
                1
            };
            (last.call, last.at) = (call, at);
            return last.times;
        }
        if self.sessions.len() >= REMEMBERED {
            let silent = self.sessions.iter().min_by_key(|(_, last)| last.at);
            if let Some(session) = silent.map(|(session, _)| session.clone()) {
                self.sessions.remove(&session);
            }
        }
        self.sessions
            .insert(session.clone(), Last { call, times: 1, at });
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(value: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        hash_value(value, &mut hasher);
        hasher.finish()
    }

    #[test]
    fn the_call_after_the_last_allowed_one_is_refused_until_another_is_made() {
        let (repetition, session) = (Repetition::default(), SessionId::generate());
        for _ in 0..2 {
            for _ in 0..3 {
                repetition.check(&session, 1, 3).unwrap();
            }
            for _ in 0..2 {
                let refusal = repetition.check(&session, 1, 3).unwrap_err();
                assert_eq!(refusal.details.unwrap()["code"], "ELOOP");
            }
            repetition.check(&session, 2, 3).unwrap();
        }
    }

    #[test]
    fn sessions_do_not_count_for_each_other_and_zero_switches_it_off() {
        let (repetition, one, other) = (
            Repetition::default(),
            SessionId::generate(),
            SessionId::generate(),
        );
        for _ in 0..3 {
            repetition.check(&one, 1, 3).unwrap();
            repetition.check(&other, 1, 3).unwrap();
        }
        assert!(repetition.check(&one, 1, 3).is_err());
        for _ in 0..10 {
            repetition.check(&other, 1, 0).unwrap();
        }
        repetition.forget(&one);
        repetition.check(&one, 1, 3).unwrap();
    }

    #[test]
    fn memory_is_bounded_and_the_silent_go_first() {
        let (repetition, busy) = (Repetition::default(), SessionId::generate());
        for _ in 0..REMEMBERED * 3 {
            repetition.check(&SessionId::generate(), 1, 3).unwrap();
            repetition.check(&busy, 1, 0).unwrap();
        }
        assert_eq!(repetition.0.lock().unwrap().sessions.len(), REMEMBERED);
        assert!(repetition.check(&busy, 1, 3).is_err());
    }

    #[test]
    fn arguments_are_the_same_whatever_their_order_and_different_in_any_detail() {
        let same = |a: &str, b: &str| {
            hash(&serde_json::from_str(a).unwrap()) == hash(&serde_json::from_str(b).unwrap())
        };
        assert!(same(
            r#"{"a":1,"b":{"c":2,"d":3}}"#,
            r#"{"b":{"d":3,"c":2},"a":1}"#
        ));
        for (a, b) in [
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            (r#"{"a":null}"#, "{}"),
            (r#"[["a"],"b"]"#, r#"[["a","b"]]"#),
            (r#"{"ab":"c"}"#, r#"{"a":"bc"}"#),
            (r#"{"cmd":"ls"}"#, r#"{"cmd":"ls "}"#),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }
}

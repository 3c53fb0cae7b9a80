//! Secrets of the daemon's are kept out of what it writes down and tells.
//!
//! Children do not get them; an agent that has one from elsewhere may still write it into a command. It runs as it is,
//! but in the record, the events and the trace `[redacted NAME]` stands in its place. Output files belong to the
//! commands, which write them without the daemon, and hold what was written.

use std::{
    borrow::Cow,
    sync::{Arc, PoisonError, RwLock},
};

use harness_model::{EventBody, NewUnit, Question, REDACTED, Transition};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    config::{Loaded, VariableMap, excluded},
    systemd::Credentials,
};

/// A shorter value is no secret, and would be found everywhere.
const SHORTEST: usize = 8;

struct Needle {
    secret: String,
    instead: String,
}

/// Takes secrets out of texts. A handle; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Arc<RwLock<Arc<Vec<Needle>>>>);

impl Redactor {
    /// Knows the values of the daemon's variables that the configuration withholds from children, its
    /// credentials, and the tokens of its fronts.
    pub(crate) fn configure(&self, loaded: &Loaded, variables: &VariableMap) {
        let withheld = excluded(variables, &loaded.config.environment);
        let withheld = withheld.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let token = |name: &str, token: &Option<crate::config::Token>| {
            token
                .as_ref()
                .map(|token| (name.to_owned(), token.reveal().to_owned()))
        };
        let tokens = [
            token("the token of [control]", &loaded.tokens.control),
            token("the token of [mcp_http]", &loaded.tokens.mcp_http),
        ];
        let credentials = Credentials::from_environment().all();
        self.know(
            withheld
                .chain(credentials)
                .chain(tokens.into_iter().flatten()),
        );
    }

    fn know(&self, secrets: impl Iterator<Item = (String, String)>) {
        let needle = |(name, value): (String, String)| Needle {
            secret: value.trim().to_owned(),
            instead: format!("{REDACTED}{name}]"),
        };
        let mut needles: Vec<Needle> = secrets
            .map(needle)
            .filter(|needle| needle.secret.chars().count() >= SHORTEST)
            .collect();
        // One that holds another goes first, or its rest would be left.
        needles.sort_by_key(|needle| std::cmp::Reverse(needle.secret.len()));
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(needles);
    }

    fn needles(&self) -> Arc<Vec<Needle>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The text without secrets.
    pub(crate) fn text(&self, text: String) -> String {
        match clean(&text, &self.needles()) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    /// Takes secrets out of every text in a value, names of members included. Says whether there were any.
    pub(crate) fn value(&self, value: &mut Value) -> bool {
        let needles = self.needles();
        !needles.is_empty() && clean_value(value, &needles)
    }

    /// Takes secrets out of an event.
    pub(crate) fn event(&self, body: &mut EventBody) {
        self.within(body);
    }

    /// Takes secrets out of a question on its way to the record and to the person. Its digest is that of the call as it
    /// is; an answer for good about a text with a secret in it covers nothing, and is asked for again.
    pub(crate) fn question(&self, question: &mut Question) {
        self.within(&mut question.approval);
    }

    fn within<T: Serialize + DeserializeOwned>(&self, noun: &mut T) {
        if self.needles().is_empty() {
            return;
        }
        let Ok(mut value) = serde_json::to_value(&*noun) else {
            return;
        };
        if self.value(&mut value) {
            match serde_json::from_value(value) {
                Ok(clean) => *noun = clean,
                Err(error) => {
                    tracing::error!(%error, "a secret is also a word of the harness's own, and stays");
                }
            }
        }
    }

    /// Takes secrets out of a unit on its way into the record. What was made of it there cannot be run again, so it is
    /// not restarted either, should the daemon itself be.
    pub(crate) fn unit(&self, unit: &mut NewUnit) {
        if self.needles().is_empty() {
            return;
        }
        unit.command = self.text(std::mem::take(&mut unit.command));
        unit.name = unit.name.take().map(|name| self.text(name));
        let Ok(mut spec) = serde_json::from_str::<Value>(&unit.spec) else {
            return;
        };
        if self.value(&mut spec) {
            spec["settings"]["restart"] = "no".into();
            unit.spec = spec.to_string();
        }
    }

    /// Takes secrets out of a change on its way into the record.
    pub(crate) fn transition(&self, transition: &mut Transition) {
        transition.last_lines = transition.last_lines.take().map(|text| self.text(text));
        let note = transition.state.note.take();
        transition.state.note = note.map(|text| self.text(text));
    }
}

fn clean<'a>(text: &'a str, needles: &[Needle]) -> Cow<'a, str> {
    let mut clean = Cow::Borrowed(text);
    for needle in needles {
        if clean.contains(&needle.secret) {
            clean = Cow::Owned(clean.replace(&needle.secret, &needle.instead));
        }
    }
    clean
}

fn clean_value(value: &mut Value, needles: &[Needle]) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => match clean(text, needles) {
            Cow::Borrowed(_) => false,
            Cow::Owned(clean) => {
                *text = clean;
                true
            }
        },
        Value::Array(items) => clean_all(items.iter_mut(), needles),
        Value::Object(members) => {
            let names = members
                .keys()
                .any(|name| matches!(clean(name, needles), Cow::Owned(_)));
            if names {
                let renamed: Map<String, Value> = std::mem::take(members)
                    .into_iter()
                    .map(|(name, item)| (clean(&name, needles).into_owned(), item))
                    .collect();
                *members = renamed;
            }
            clean_all(members.values_mut(), needles) || names
        }
    }
}

/// Each of them, whatever was found in those before it.
fn clean_all<'a>(values: impl Iterator<Item = &'a mut Value>, needles: &[Needle]) -> bool {
    let mut found = false;
    for value in values {
        found |= clean_value(value, needles);
    }
    found
}

#[cfg(test)]
mod tests {
    use harness_model::{CallId, Front, Timestamp, UnitId, UnitKind, UnitSettings};
    use serde_json::json;

    use super::*;

    fn redactor() -> Redactor {
        let redactor = Redactor::default();
        let secrets = [
            ("API_KEY", "s3cr3t-value"),
            ("LONG_TOKEN", "s3cr3t-value-and-more\n"),
            ("SHORT_KEY", "short"),
            ("EMPTY_KEY", ""),
        ];
        redactor.know(
            secrets
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        redactor
    }

    #[test]
    fn a_secret_is_replaced_by_its_name_wherever_it_stands() {
        let redactor = redactor();
        for (text, expected) in [
            ("nothing here, short", "nothing here, short"),
            (
                "a s3cr3t-value b s3cr3t-value",
                "a [redacted API_KEY] b [redacted API_KEY]",
            ),
            ("s3cr3t-value-and-more!", "[redacted LONG_TOKEN]!"),
            ("", ""),
        ] {
            assert_eq!(redactor.text(text.to_owned()), expected);
        }
        let mut value = json!({"a": ["s3cr3t-value", 1, null], "s3cr3t-value": {"b": "x"}});
        assert!(redactor.value(&mut value));
        assert_eq!(
            value,
            json!({"a": ["[redacted API_KEY]", 1, null], "[redacted API_KEY]": {"b": "x"}})
        );
        assert!(!redactor.value(&mut json!({"a": "s3cr3t"})));
    }

    #[test]
    fn an_event_keeps_its_kind() {
        let mut body = EventBody::ToolCall {
            call: CallId::generate(),
            parent: None,
            front: Front::Mcp,
            group: "bash".into(),
            tool: "run".into(),
            input: json!({"cmd": "curl -H s3cr3t-value"}),
            asked: None,
        };
        redactor().event(&mut body);
        let EventBody::ToolCall { input, .. } = body else {
            panic!("{body:?}")
        };
        assert_eq!(input["cmd"], "curl -H [redacted API_KEY]");
    }

    #[test]
    fn a_recorded_unit_that_held_a_secret_is_not_restarted() {
        let unit = |command: &str| NewUnit {
            id: UnitId::generate(),
            kind: UnitKind::Task,
            name: None,
            command: command.to_owned(),
            spec: json!({"argv": ["sh", "-c", command], "settings": {"restart": "always"}})
                .to_string(),
            cwd: "/".into(),
            settings: UnitSettings::default(),
            created_at: Timestamp::default(),
        };
        let (mut plain, mut secret) = (unit("true"), unit("echo s3cr3t-value"));
        redactor().unit(&mut plain);
        redactor().unit(&mut secret);
        assert_eq!(
            plain,
            NewUnit {
                id: plain.id.clone(),
                ..unit("true")
            }
        );
        assert_eq!(secret.command, "echo [redacted API_KEY]");
        let spec: Value = serde_json::from_str(&secret.spec).unwrap();
        assert_eq!(spec["argv"][2], "echo [redacted API_KEY]");
        assert_eq!(spec["settings"]["restart"], "no");
    }

    #[test]
    fn without_secrets_nothing_is_touched() {
        let redactor = Redactor::default();
        assert_eq!(
            redactor.text("[redacted x] s3cr3t-value".to_owned()),
            "[redacted x] s3cr3t-value"
        );
    }
}

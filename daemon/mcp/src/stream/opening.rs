//! The line before the first message: which view the client wants.

use harness_model::Refusal;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use crate::{
    backend::View,
    error::{Error, Result},
};

#[derive(Deserialize)]
struct FirstLine {
    harness: Option<Value>,
    jsonrpc: Option<IgnoredAny>,
}

/// The view that a first line names, or `None` when it is already the first message.
pub(crate) fn view(line: &[u8]) -> Option<Result<View>> {
    let first: FirstLine = serde_json::from_slice(line).ok()?;
    match (first.harness, first.jsonrpc) {
        (Some(harness), None) => Some(named(&harness)),
        (None, _) if line == b"{}" => Some(Ok(View::All)),
        (None | Some(_), _) => None,
    }
}

fn named(harness: &Value) -> Result<View> {
    let found = |found: String| Err(Error::Opening { found });
    let Some(members) = harness.as_object() else {
        return found("harness is not an object".to_owned());
    };
    let mut view = View::All;
    for (key, value) in members {
        let Some(name) = value.as_str().filter(|name| !name.is_empty()) else {
            return found(format!("{key} is not a name"));
        };
        if view != View::All {
            return found("it names two views".to_owned());
        }
        view = match key.as_str() {
            "group" => View::Group(name.to_owned()),
            "server" => View::Server(name.to_owned()),
            _ => return found(format!("unknown key {key:?}")),
        };
    }
    Ok(view)
}

/// What a client is answered whose view cannot be served.
pub(crate) fn refusal(error: Error) -> Refusal {
    match error {
        Error::View(refusal) => refusal,
        Error::Opening { .. } | Error::Token { .. } => {
            Refusal::new(harness_model::ErrorCode::InvalidInput, error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_harness_line_names_a_view() {
        let of = |line: &str| view(line.as_bytes()).map(Result::ok);
        let group = View::Group("bash".into());
        assert_eq!(of(r#"{"harness":{"group":"bash"}}"#), Some(Some(group)));
        let server = View::Server("github".into());
        assert_eq!(of(r#"{"harness":{"server":"github"}}"#), Some(Some(server)));
        assert_eq!(of(r#"{"harness":{}}"#), Some(Some(View::All)));
        assert_eq!(of("{}"), Some(Some(View::All)));
    }

    #[test]
    fn a_message_is_no_harness_line() {
        let message = br#"{"jsonrpc":"2.0","id":1,"method":"ping","harness":{"group":"x"}}"#;
        assert!(view(message).is_none());
        assert!(view(b"garbage").is_none());
        assert!(view(br#"{"id":1}"#).is_none());
    }

    #[test]
    fn another_shape_is_an_error_that_shows_the_right_one() {
        for line in [
            r#"{"harness":5}"#,
            r#"{"harness":{"grup":"bash"}}"#,
            r#"{"harness":{"group":5}}"#,
            r#"{"harness":{"group":""}}"#,
            r#"{"harness":{"group":"a","server":"b"}}"#,
        ] {
            let error = view(line.as_bytes()).unwrap().unwrap_err().to_string();
            assert!(error.contains(r#"{"harness":{"group":"NAME"}}"#), "{error}");
        }
    }
}

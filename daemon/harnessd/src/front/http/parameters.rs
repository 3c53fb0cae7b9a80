//! Query parameters and their bounds.

use std::time::Duration;

use axum::extract::RawPathParams;
use harness_model::{Page, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use super::response::Rejection;

/// The longest wait of one request; a longer one is clamped, and the client asks again.
pub(super) const MAX_WAIT: Duration = Duration::from_mins(5);

/// How many bytes of output one answer has when nobody asks for a number.
const DEFAULT_OUTPUT: usize = 64 << 10;

/// How many bytes of output one answer has at most; a larger wish is clamped.
const MAX_OUTPUT: usize = 1 << 20;

/// The `{name}` of a path.
pub(super) fn name_of(parameters: &RawPathParams) -> String {
    let named = parameters.iter().find(|(name, _)| *name == "name");
    named.map_or_else(String::new, |(_, text)| text.to_owned())
}

/// How OpenAPI has it.
pub(super) fn name_document(description: &str) -> Value {
    json!({
        "name": "name",
        "in": "path",
        "required": true,
        "description": description,
        "schema": { "type": "string" },
    })
}

/// No query parameter is known.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoQuery {}

/// How long to wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitQuery {
    /// How many seconds to wait for the end before answering; default 0, longer than 300 is clamped.
    #[serde(default)]
    #[schemars(range(min = 0))]
    wait: Option<f64>,
}

impl WaitQuery {
    pub(super) fn wait(&self) -> Result<Duration, Rejection> {
        wait(self.wait.unwrap_or(0.0))
    }
}

/// A number of seconds as a clamped wait.
pub(super) fn wait(seconds: f64) -> Result<Duration, Rejection> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(Rejection::invalid(format!(
            "a wait of {seconds} seconds is not possible: expected 0 or more"
        )));
    }
    Ok(Duration::try_from_secs_f64(seconds).map_or(MAX_WAIT, |wait| wait.min(MAX_WAIT)))
}

/// How many entries.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitQuery {
    /// How many entries, 1 to 1000; default 100, a larger number is clamped.
    #[serde(default)]
    pub(super) limit: Option<u32>,
}

/// A list's limit with its default and bounds.
pub(super) fn limit(asked: Option<u32>) -> Result<u32, Rejection> {
    match asked {
        None => Ok(Page::<()>::DEFAULT_LIMIT),
        Some(0) => Err(Rejection::invalid("limit is 0: expected 1 to 1000")),
        Some(limit) => Ok(limit.min(Page::<()>::MAX_LIMIT)),
    }
}

/// Which piece of a task's output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputQuery {
    /// Which stream; default stdout.
    #[serde(default)]
    pub(super) stream: Option<Stream>,
    /// Where to begin, in bytes; default 0.
    #[serde(default)]
    pub(super) offset: u64,
    /// How many bytes at most, default 65536; more than 1048576 is clamped. Not with `follow`.
    #[serde(default)]
    limit: Option<usize>,
    /// `1` sends server-sent events as the output grows, to the end of the task.
    #[serde(default, deserialize_with = "flag")]
    #[schemars(with = "bool")]
    pub(super) follow: bool,
}

impl OutputQuery {
    pub(super) fn limit(&self) -> Result<usize, Rejection> {
        match (self.limit, self.follow) {
            (Some(_), true) => Err(Rejection::invalid("limit and follow exclude each other")),
            // Less could not hold one character.
            (Some(0..4), false) => Err(Rejection::invalid(
                "limit is below 4 bytes, which may not hold one character",
            )),
            (limit, _) => Ok(limit.unwrap_or(DEFAULT_OUTPUT).min(MAX_OUTPUT)),
        }
    }
}

fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(D::Error::custom(format!(
            "{other:?} is not a switch: expected 1 or 0"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_clamped_when_long_and_refused_when_negative() {
        assert_eq!(wait(0.25).ok(), Some(Duration::from_millis(250)));
        for long in [301.0, 1e300, f64::INFINITY] {
            assert_eq!(wait(long).ok(), Some(MAX_WAIT), "{long}");
        }
        for bad in [-0.1, f64::NAN, f64::NEG_INFINITY] {
            assert!(wait(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_limit_has_a_default_and_a_top_and_is_never_nothing() {
        assert_eq!(limit(None).ok(), Some(100));
        assert_eq!(limit(Some(u32::MAX)).ok(), Some(1000));
        assert!(limit(Some(0)).is_err());
    }
}

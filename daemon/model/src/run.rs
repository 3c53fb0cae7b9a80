//! The input of the tool `run`, which is also the body of `POST /v1/tasks`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::{SandboxRequest, UnitSettings};

/// A new background task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInput {
    /// The command, run by the shell with empty stdin and no terminal.
    #[schemars(length(min = 1))]
    pub cmd: String,
    /// End the whole task after so many seconds; default never.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "seconds"
    )]
    #[schemars(range(min = 0.001))]
    pub timeout_secs: Option<f64>,
    /// Wait so many seconds for the end and return the full status then; default 3, at most 30, 0 returns at once.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "seconds"
    )]
    #[schemars(range(min = 0))]
    pub wait_seconds: Option<f64>,
    /// A name for people.
    #[schemars(length(max = 200))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The working directory; relative to the workspace, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables to add to the environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// systemd's keys for this task, such as {"restart": "on-failure"}.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitSettings>,
    /// Other limits than the sandbox's for this task; what opens more is asked of a person first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxRequest>,
}

/// A whole number of seconds is written as an integer, which every reader takes.
#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn seconds<S: Serializer>(seconds: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match seconds {
        None => serializer.serialize_none(),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be whole and to fit"
        )]
        Some(seconds) if seconds.fract() == 0.0 && (0.0..1e15).contains(seconds) => {
            serializer.serialize_u64(*seconds as u64)
        }
        Some(seconds) => serializer.serialize_f64(*seconds),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_was_set_is_written_and_whole_seconds_are_integers() {
        let input = RunInput {
            cmd: "true".into(),
            timeout_secs: Some(60.0),
            wait_seconds: Some(0.5),
            ..RunInput::default()
        };
        assert_eq!(
            serde_json::to_value(&input).unwrap(),
            json!({"cmd": "true", "timeout_secs": 60, "wait_seconds": 0.5})
        );
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        let error =
            serde_json::from_value::<RunInput>(json!({"cmd": "true", "comand": 1})).unwrap_err();
        assert!(error.to_string().contains("comand"), "{error}");
    }
}

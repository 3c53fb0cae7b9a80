//! The input of the tool, as a caller gives it and as it is carried out.

use harness_model::SandboxRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// What a caller may give; made for its schema.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "the call is prepared as JSON; this is its schema")]
pub(super) struct Given {
    /// The command, passed to the interpreter as it is.
    cmd: String,
    /// The interpreter, by name or absolute path, without arguments; default: the configured one.
    shell: Option<String>,
    /// The longest it may take, in milliseconds, 1 to 600000; default 30000. The configuration may allow less.
    timeout_ms: Option<i64>,
    /// Where it runs: a path below the workspace; default the workspace.
    cwd: Option<String>,
    /// Other limits than the sandbox's for this command; what opens more is asked of a person first.
    sandbox: Option<SandboxRequest>,
}

/// A call that leaves nothing open.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Prepared {
    pub(super) cmd: String,
    pub(super) shell: String,
    pub(super) timeout_ms: u64,
    pub(super) cwd: String,
    #[serde(default)]
    pub(super) sandbox: SandboxRequest,
}

/// A number of milliseconds of any size, as near to it as can be.
pub(super) fn milliseconds(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    Some(if number < 1.0 { 0 } else { u64::MAX })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_whole_number_is_one_of_milliseconds() {
        for (value, expected) in [
            (json!(1500), 1500),
            (json!(0), 0),
            (json!(-7), 0),
            (json!(i64::MIN), 0),
            (json!(1e300), u64::MAX),
        ] {
            assert_eq!(milliseconds(&value), Some(expected), "{value}");
        }
        assert_eq!(milliseconds(&json!("5")), None);
    }
}

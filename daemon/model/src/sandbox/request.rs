//! What one call asks for.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Filesystem, profile::covers};

/// Other rules than those of `[sandbox]`, for one call. What gives more than they do is asked of a person.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxRequest {
    /// What may be changed: `read-only`, `workspace-write` or `open`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<Filesystem>,
    /// Further paths that may be changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub writable: Vec<String>,
    /// Hidden paths that may be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub visible: Vec<String>,
    /// Whether the network may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Execute any program, where an allowlist would let only those of the command be executed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub execute: bool,
    /// Why, for the person who is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub reason: Option<String>,
}

impl SandboxRequest {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let nothing = Self {
            reason: self.reason.clone(),
            ..Self::default()
        };
        *self == nothing
    }

    /// Whether it opens all that `other` does.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.filesystem >= other.filesystem
            && (self.filesystem == Some(Filesystem::Open)
                || other
                    .writable
                    .iter()
                    .all(|path| covers(&self.writable, path)))
            && other.visible.iter().all(|path| covers(&self.visible, path))
            && self.network >= other.network
            && self.execute >= other.execute
    }
}

impl fmt::Display for SandboxRequest {
    /// What it opens, in words that fit behind "asks to"; paths are quoted and escaped.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |paths: &[String]| {
            let quoted: Vec<String> = paths.iter().map(|path| format!("{path:?}")).collect();
            quoted.join(", ")
        };
        let mut parts = Vec::new();
        match self.filesystem {
            None => {}
            Some(Filesystem::Open) => parts.push("change every file of its user".to_owned()),
            Some(Filesystem::WorkspaceWrite) => parts.push("change the workspace".to_owned()),
            Some(Filesystem::ReadOnly) => parts.push("change what is listed".to_owned()),
        }
        if !self.writable.is_empty() {
            parts.push(format!("change {}", list(&self.writable)));
        }
        if !self.visible.is_empty() {
            parts.push(format!("use the hidden {}", list(&self.visible)));
        }
        if self.network == Some(true) {
            parts.push("use the network".to_owned());
        }
        if self.execute {
            parts.push("execute any program".to_owned());
        }
        formatter.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> SandboxRequest {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_reason_alone_asks_for_nothing() {
        assert!(request("{}").is_empty());
        assert!(request(r#"{"reason": "x"}"#).is_empty());
        assert!(!request(r#"{"network": false}"#).is_empty());
        assert!(!request(r#"{"execute": true}"#).is_empty());
    }

    #[test]
    fn an_unknown_key_or_level_is_refused() {
        for text in [
            r#"{"netwrok": true}"#,
            r#"{"filesystem": "all"}"#,
            r#"{"network": "yes"}"#,
        ] {
            assert!(
                serde_json::from_str::<SandboxRequest>(text).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_opened_is_said_in_one_line_and_escaped() {
        let all = request(
            r#"{"filesystem": "open", "writable": ["/a\u202eb"], "visible": ["/k"], "network": true, "execute": true}"#,
        );
        assert_eq!(
            all.to_string(),
            r#"change every file of its user, change "/a\u{202e}b", use the hidden "/k", use the network, execute any program"#
        );
    }

    #[test]
    fn more_includes_less() {
        let cases = [
            (r#"{"network": true}"#, "{}", true),
            ("{}", r#"{"network": true}"#, false),
            (r#"{"filesystem": "open"}"#, r#"{"writable": ["/x"]}"#, true),
            (r#"{"writable": ["/x"]}"#, r#"{"writable": ["/x/y"]}"#, true),
            (
                r#"{"writable": ["/x/y"]}"#,
                r#"{"writable": ["/x"]}"#,
                false,
            ),
            (
                r#"{"visible": ["/x"], "execute": true}"#,
                r#"{"visible": ["/x"]}"#,
                true,
            ),
            (
                r#"{"filesystem": "workspace-write"}"#,
                r#"{"filesystem": "open"}"#,
                false,
            ),
        ];
        for (more, less, expected) in cases {
            assert_eq!(
                request(more).includes(&request(less)),
                expected,
                "{more} {less}"
            );
        }
    }
}

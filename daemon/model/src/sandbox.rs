//! What a process may do with files and the network.

use std::{fmt::Write as _, path::Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// File and network rules of one process tree, beside the Landlock domain that every task has.
///
/// All paths are absolute. The default takes nothing away.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SandboxRules {
    /// Only these, and what lies below them, may be changed; `None`: all that the user may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writable: Option<Vec<String>>,
    /// These, and what lies below them, may neither be read, nor run, nor changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// These are not hidden, though they lie below a path that is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<String>,
    /// TCP may neither be connected nor bound, and no other socket of the internet be made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_network: bool,
    /// Nothing runs unless all of it is enforced.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

impl SandboxRules {
    /// Whether nothing is asked for beside the domain that every task has.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether nothing is taken away from the process.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.writable.is_none() && self.hidden.is_empty() && !self.no_network
    }

    /// The rules in words, for whoever met them; `None` when nothing is taken away.
    #[must_use]
    pub fn containment(&self) -> Option<String> {
        let mut parts = Vec::new();
        match &self.writable {
            None => {}
            Some(paths) if paths.is_empty() => parts.push("may not write anywhere".to_owned()),
            Some(paths) => parts.push(format!("may write only below {}", paths.join(", "))),
        }
        if !self.hidden.is_empty() {
            let mut text = format!("hidden: {}", self.hidden.join(", "));
            let below = |path: &&String| {
                let hides = |hidden: &String| Path::new(path).starts_with(hidden);
                self.hidden.iter().any(hides)
            };
            let visible: Vec<&str> = self
                .visible
                .iter()
                .filter(below)
                .map(String::as_str)
                .collect();
            if !visible.is_empty() {
                _ = write!(text, " (but not {})", visible.join(", "));
            }
            parts.push(text);
        }
        if self.no_network {
            parts.push("no network".to_owned());
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn the_default_takes_nothing_away_and_is_written_as_nothing() {
        let rules = SandboxRules::default();
        assert!(rules.is_default() && rules.is_open());
        assert_eq!(rules.containment(), None);
        assert_eq!(serde_json::to_string(&rules).unwrap(), "{}");
        assert_eq!(serde_json::from_str::<SandboxRules>("{}").unwrap(), rules);
    }

    #[test]
    fn the_rules_are_said_in_one_line() {
        let rules = SandboxRules {
            writable: Some(paths(&["/srv/x", "/tmp"])),
            hidden: paths(&["/home/u", "/root/.ssh"]),
            visible: paths(&["/srv/x", "/home/u/work", "/home/users"]),
            no_network: true,
            required: false,
        };
        assert_eq!(
            rules.containment().unwrap(),
            "may write only below /srv/x, /tmp; hidden: /home/u, /root/.ssh (but not /home/u/work); no network"
        );
        let nothing = SandboxRules {
            writable: Some(Vec::new()),
            ..SandboxRules::default()
        };
        assert_eq!(nothing.containment().unwrap(), "may not write anywhere");
        let required = SandboxRules {
            required: true,
            ..SandboxRules::default()
        };
        assert!(required.is_open() && !required.is_default());
    }
}

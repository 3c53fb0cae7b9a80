//! The rules of one process tree.

use std::{fmt::Write as _, path::Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// So many executable paths are named where the rules are said in words.
const NAMED_MOST: usize = 12;

/// File and network rules of one process tree, beside the Landlock domain that every task has.
///
/// All paths are absolute. The default takes nothing away.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SandboxRules {
    /// Only these, and what lies below them, may be changed; `None`: all that the user may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writable: Option<Vec<String>>,
    /// Only these, and what lies below them, may be executed (`execve(2)`, and the loaders and interpreters
    /// that the kernel starts for it); `None`: all that the user may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<Vec<String>>,
    /// The table of the configuration whose allowlist let the script through, such as `[tool.shell]`: that
    /// is why less may be executed and changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowlist: Option<String>,
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
        self.writable.is_none()
            && self.executable.is_none()
            && self.hidden.is_empty()
            && !self.no_network
    }

    /// Whether an absolute path is hidden, as it is written. Where it is both hidden and visible, it is hidden.
    #[must_use]
    pub fn hides(&self, path: &str) -> bool {
        let longest = |paths: &[String]| {
            let covering = paths
                .iter()
                .filter(|other| Path::new(path).starts_with(other));
            covering
                .map(|other| Path::new(other).components().count())
                .max()
        };
        longest(&self.hidden).is_some_and(|hidden| Some(hidden) >= longest(&self.visible))
    }

    /// The rules in words, for whoever met them; `None` when nothing is taken away.
    #[must_use]
    pub fn containment(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(paths) = &self.executable {
            let more = paths.len().saturating_sub(NAMED_MOST);
            let named = &paths[..paths.len() - more];
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("may execute only {}{more}", named.join(", ")));
        }
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
        if let Some(rule) = &self.allowlist {
            parts.push(format!(
                "an allowlist let it through, hence the limits; a person can widen them by {rule} execute and [sandbox] writable"
            ));
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
            hidden: paths(&["/home/u", "/srv/keys"]),
            visible: paths(&["/srv/x", "/home/u/project", "/home/users"]),
            no_network: true,
            ..SandboxRules::default()
        };
        assert_eq!(
            rules.containment().unwrap(),
            "may write only below /srv/x, /tmp; hidden: /home/u, /srv/keys (but not /home/u/project); no network"
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

    #[test]
    fn what_an_allowlist_let_through_says_so_and_names_the_keys() {
        let rules = SandboxRules {
            executable: Some(paths(&["/bin/ls", "/bin/sh"])),
            writable: Some(paths(&["/srv/x"])),
            allowlist: Some("[tool.run]".to_owned()),
            ..SandboxRules::default()
        };
        let text = rules.containment().unwrap();
        assert!(
            text.starts_with("may execute only /bin/ls, /bin/sh; may write only below /srv/x; "),
            "{text}"
        );
        assert!(text.contains("[tool.run] execute"), "{text}");
        assert!(!rules.is_open());
        let many: Vec<String> = (0..20).map(|number| format!("/bin/{number}")).collect();
        let rules = SandboxRules {
            executable: Some(many),
            ..SandboxRules::default()
        };
        let text = rules.containment().unwrap();
        assert!(text.ends_with("/bin/11 and 8 more"), "{text}");
    }

    #[test]
    fn the_longest_path_decides_what_is_hidden() {
        let rules = SandboxRules {
            hidden: paths(&["/home/u", "/x"]),
            visible: paths(&["/home/u/project", "/x"]),
            ..SandboxRules::default()
        };
        for (path, hidden) in [
            ("/home/u/.ssh", true),
            ("/home/u/project/a", false),
            ("/home/user", false),
            ("/x", true),
        ] {
            assert_eq!(rules.hides(path), hidden, "{path}");
        }
    }
}

//! What the configuration allows.

use std::collections::BTreeSet;

/// The tool groups that never can be switched off.
const ALWAYS: [&str; 1] = ["bash"];

/// The policy of one harness.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    groups: BTreeSet<String>,
}

impl Policy {
    /// A policy that lets the named tool groups through; `bash` is always among them.
    #[must_use]
    pub fn of_groups<T: Into<String>>(groups: impl IntoIterator<Item = T>) -> Self {
        let always = ALWAYS.into_iter().map(str::to_owned);
        Self {
            groups: groups.into_iter().map(Into::into).chain(always).collect(),
        }
    }

    /// Whether the group is switched on.
    #[must_use]
    pub fn has_group(&self, group: &str) -> bool {
        self.groups.contains(group)
    }
}

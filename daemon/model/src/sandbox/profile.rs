//! `[sandbox]` with its paths in full, and what a call may ask beside it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SandboxRequest, SandboxRules};

/// What of the file system a task may change.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Filesystem {
    /// Nothing but what `writable` names.
    ReadOnly,
    /// The workspace, `TMPDIR`, shared memory (`/dev/shm`) and what `writable` names.
    WorkspaceWrite,
    /// All that its user may.
    #[default]
    Open,
}

/// The sandbox of the configuration: the rules of a call that asks for nothing, and what its words mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxProfile {
    /// `[sandbox] filesystem`.
    pub filesystem: Filesystem,
    /// What holds where a call asks for nothing.
    pub rules: SandboxRules,
    /// What `workspace-write` lets be changed; absolute paths.
    pub workspace_write: Vec<String>,
    /// What `[sandbox] writable` names; absolute paths.
    pub listed: Vec<String>,
}

impl SandboxProfile {
    /// What may be changed at a level.
    fn writable(&self, level: Filesystem) -> Option<Vec<String>> {
        match level {
            Filesystem::Open => None,
            Filesystem::WorkspaceWrite => Some(self.workspace_write.clone()),
            Filesystem::ReadOnly => Some(self.listed.clone()),
        }
    }

    /// The rules of a script that the allowlist of the table `rule` let through, before it is known which
    /// programs it may execute: it changes no more than `workspace-write` allows.
    #[must_use]
    pub fn allowlisted(&self, rule: &str) -> SandboxRules {
        let level = self.filesystem.min(Filesystem::WorkspaceWrite);
        SandboxRules {
            writable: self.writable(level),
            allowlist: Some(rule.to_owned()),
            ..self.rules.clone()
        }
    }

    /// The rules of a call that asks for this, once it may have it. Within `limits` (those of an allowlist) what
    /// is asked for only narrows.
    #[must_use]
    pub fn granted(&self, request: &SandboxRequest, limits: Option<&SandboxRules>) -> SandboxRules {
        let base = limits.unwrap_or(&self.rules);
        let within = |path: &str| {
            limits
                .and_then(|limits| limits.writable.as_ref())
                .is_none_or(|writable| covers(writable, path))
        };
        let asked = request.filesystem.unwrap_or(self.filesystem);
        let level = match limits {
            Some(_) => asked.min(self.filesystem).min(Filesystem::WorkspaceWrite),
            None => asked,
        };
        let mut rules = SandboxRules {
            writable: self.writable(level),
            ..base.clone()
        };
        if let Some(writable) = &mut rules.writable {
            for path in request.writable.iter().filter(|path| within(path)) {
                if !covers(writable, path) {
                    writable.push(path.clone());
                }
            }
        }
        match request.network {
            Some(false) => rules.no_network = true,
            Some(true) if limits.is_none() => rules.no_network = false,
            Some(true) | None => {}
        }
        if limits.is_none() {
            for path in &request.visible {
                if rules.hides(path) {
                    rules.hidden.retain(|hidden| hidden != path);
                    rules.visible.push(path.clone());
                }
            }
        }
        rules
    }

    /// That part of a request which gives more than `base` does, without its reason; it is empty where
    /// there is nothing to lift.
    #[must_use]
    pub fn opened(&self, base: &SandboxRules, request: &SandboxRequest) -> SandboxRequest {
        let wider = |level: &Filesystem| match (&base.writable, self.writable(*level)) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(base), Some(wanted)) => !wanted.iter().all(|path| covers(base, path)),
        };
        let filesystem = request.filesystem.filter(wider);
        // What is open needs no names, and a level that is asked for names some itself.
        let given = match filesystem {
            Some(level) => self.writable(level),
            None => base.writable.clone(),
        };
        let is_new = |path: &&String| given.as_ref().is_some_and(|given| !covers(given, path));
        SandboxRequest {
            filesystem,
            writable: request.writable.iter().filter(is_new).cloned().collect(),
            visible: request
                .visible
                .iter()
                .filter(|path| base.hides(path))
                .cloned()
                .collect(),
            network: (request.network == Some(true) && base.no_network).then_some(true),
            execute: request.execute && base.allowlist.is_some(),
            reason: None,
        }
    }
}

/// Whether one of the paths is this one or lies above it.
pub(super) fn covers(paths: &[String], path: &str) -> bool {
    paths.iter().any(|above| Path::new(path).starts_with(above))
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;

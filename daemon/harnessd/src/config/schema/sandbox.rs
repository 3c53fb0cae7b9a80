//! `[sandbox]`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of the file system a task may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Filesystem {
    /// All that its user may.
    #[default]
    Open,
    /// The workspace, `TMPDIR`, shared memory (`/dev/shm`) and what `writable` names.
    WorkspaceWrite,
    /// Nothing but what `writable` names.
    ReadOnly,
}

/// File and network rules for tasks, shell calls and turns, beside the domain that each has anyway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sandbox {
    /// What of the file system may be changed.
    pub filesystem: Filesystem,
    /// Further paths that may be changed: absolute, or below `~`.
    pub writable: Vec<String>,
    /// Paths that may neither be read, nor run, nor changed: absolute, or below `~`, and not where tasks make
    /// files. Nothing can be made in the directories above them either.
    pub hidden: Vec<String>,
    /// Whether sockets of the internet may be made; Unix sockets may.
    pub network: bool,
    /// Refuse to run anything when the kernel cannot enforce all of it.
    pub required: bool,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            filesystem: Filesystem::default(),
            writable: Vec::new(),
            hidden: Vec::new(),
            network: true,
            required: false,
        }
    }
}

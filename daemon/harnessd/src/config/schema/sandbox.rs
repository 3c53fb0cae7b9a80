//! `[sandbox]`

use harness_model::Filesystem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

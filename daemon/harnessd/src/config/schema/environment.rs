//! `[environment]`

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of the daemon's own environment children get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inherit {
    /// All of it, without `exclude`.
    #[default]
    All,
    /// `PATH HOME USER LOGNAME SHELL LANG LC_* TERM TZ TMPDIR XDG_RUNTIME_DIR`.
    Core,
    /// Nothing.
    None,
}

/// The environment of tasks, shell calls and turns.
///
/// Whatever is set here, children never get `LD_PRELOAD`, `LD_LIBRARY_PATH`, `LD_AUDIT`,
/// `DYLD_INSERT_LIBRARIES`, `NODE_OPTIONS`, `BASH_ENV`, `ENV`, `PYTHONSTARTUP`, or what systemd
/// gives the daemon alone (`NOTIFY_SOCKET`, `LISTEN_*`, `WATCHDOG_*`, `CREDENTIALS_DIRECTORY`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Environment {
    /// How much of the daemon's own environment they get.
    pub inherit: Inherit,
    /// Globs for inherited variables that they do not get; upper and lower case are the same.
    pub exclude: Vec<String>,
    /// Variables that are set for each of them; `exclude` does not touch these.
    pub set: BTreeMap<String, String>,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            inherit: Inherit::default(),
            exclude: ["*KEY*", "*SECRET*", "*TOKEN*", "*PASSWORD*"]
                .map(str::to_owned)
                .to_vec(),
            set: BTreeMap::new(),
        }
    }
}

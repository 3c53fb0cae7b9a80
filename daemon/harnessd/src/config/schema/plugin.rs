//! `[plugin.NAME]`

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tool-group plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plugin {
    /// The shared object: an absolute path, or a file name that is looked up in the directories of
    /// `$HARNESSD_PLUGIN_PATH` and in the daemon's own `lib/harnessd/plugins`.
    pub library: PathBuf,
    /// Its settings; the plugin's own JSON Schema says which there are.
    #[serde(default)]
    pub settings: serde_json::Map<String, serde_json::Value>,
}

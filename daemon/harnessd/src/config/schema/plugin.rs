//! `[plugin.NAME]`

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::McpServer;

/// The variable by which its host gets the settings: a command line can be read by anyone.
const SETTINGS_VARIABLE: &str = "HARNESS_PLUGIN_SETTINGS";

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

impl Plugin {
    /// The MCP server that it is: its host with its library, which was looked up.
    #[must_use]
    pub fn server(&self, host: &Path, library: &Path) -> McpServer {
        let word = |path: &Path| path.to_string_lossy().into_owned();
        let settings = serde_json::Value::Object(self.settings.clone()).to_string();
        McpServer {
            command: vec![word(host), word(library)],
            environment: BTreeMap::from([(SETTINGS_VARIABLE.to_owned(), settings)]),
            ..McpServer::default()
        }
    }
}

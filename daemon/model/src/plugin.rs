//! MCP servers and plugins, as the API and the events show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ActiveState, Timestamp, UnitId, unit::words};

words! {
    /// How the tools of a server or plugin are reached.
    PluginKind {
        /// A program that speaks MCP on its standard input and output.
        Stdio = "stdio",
        /// An MCP server at an address.
        Http = "http",
        /// A library in a process of its own.
        Library = "library",
    }
}

/// The end of what a server or plugin wrote to its standard error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginLog {
    /// Whole lines, oldest first.
    pub text: String,
    /// The file they are in.
    pub path: String,
}

/// One MCP server or plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginStatus {
    /// Its name, which is that of its tool group.
    pub name: String,
    /// How it is reached.
    pub kind: PluginKind,
    /// *activating*: it is being started, or waits for its restart; *active*: its tools can be called;
    /// *inactive*: not loaded; *failed*: it will not be started again by itself.
    pub active_state: ActiveState,
    /// It is started by the first call that names it, not with the daemon.
    pub on_demand: bool,
    /// How many tools it offers. Those of one that is down stay, and calls of them are refused.
    pub tools: u32,
    /// How often it was started again by itself since somebody started it.
    pub restarts: u32,
    /// The unit of its process, current or last.
    pub unit: Option<UnitId>,
    /// Its process.
    pub pid: Option<i32>,
    /// Since when its tools can be called.
    pub active_since: Option<Timestamp>,
    /// The protocol revision that was agreed upon.
    pub protocol: Option<String>,
    /// The program's own name and version.
    pub program: Option<String>,
    /// Why it is not active, or why it last was not.
    pub last_error: Option<String>,
}

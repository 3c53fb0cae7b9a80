//! `[mcp.NAME]`

use std::collections::BTreeMap;

use harness_model::{Restart, TimeSpan, UnitSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When an MCP server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// With the daemon.
    #[default]
    Start,
    /// By the first command that names it, or a search that matches it.
    Demand,
}

/// An MCP server: a program on stdio, supervised as a unit, or the address of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpServer {
    /// The program with its arguments; either this or `url`.
    pub command: Vec<String>,
    /// The address of a streamable HTTP server; either this or `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Variables that are set for it; for a `command`.
    pub environment: BTreeMap<String, String>,
    /// Headers of each request; for a `url`.
    pub headers: BTreeMap<String, String>,
    /// Variables, or with a `url` headers, that hold a credential, each with the credential's name in
    /// `$CREDENTIALS_DIRECTORY`. An `Authorization` without a scheme is sent as a bearer token.
    pub credentials: BTreeMap<String, String>,
    /// When it is started.
    pub load: Load,
    /// How long it may take to say hello and list its tools.
    pub timeout_start_sec: TimeSpan,
    /// How often it has to answer a ping while nobody calls it, and how quickly; 0: it is not asked. One that does
    /// not is killed, which its restart policy takes for a failure.
    pub watchdog_sec: TimeSpan,
    /// It is stopped when nobody has called it for this long, and started by the next call. Without it, it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_stop_sec: Option<TimeSpan>,
    /// Globs for those of its tools that are offered.
    pub allowed_tools: Vec<String>,
    /// How it is supervised. Keys that are not set: `restart = "on-failure"`, after 1 s that grows to 16 s in 4 steps, and
    /// at most 5 starts within 2 min.
    pub unit: UnitSettings,
}

impl McpServer {
    /// Restarts after failures with a delay that grows from 1 s to 16 s in four steps, and gives
    /// up after five starts within two minutes.
    #[must_use]
    pub fn default_unit() -> UnitSettings {
        UnitSettings {
            restart: Some(Restart::OnFailure),
            restart_sec: Some(TimeSpan::from_secs(1)),
            restart_steps: Some(4),
            restart_max_delay_sec: Some(TimeSpan::from_secs(16)),
            start_limit_interval_sec: Some(TimeSpan::from_secs(120)),
            start_limit_burst: Some(5),
            ..UnitSettings::default()
        }
    }
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            url: None,
            environment: BTreeMap::new(),
            headers: BTreeMap::new(),
            credentials: BTreeMap::new(),
            load: Load::default(),
            timeout_start_sec: TimeSpan::from_secs(30),
            watchdog_sec: TimeSpan::from_secs(30),
            idle_stop_sec: None,
            allowed_tools: vec!["*".to_owned()],
            unit: UnitSettings::default(),
        }
    }
}

//! What the harness says of itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// `GET /v1/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HarnessStatus {
    /// The agent's name.
    pub agent: String,
    /// The daemon's version.
    pub version: String,
    /// The daemon's pid.
    pub pid: u32,
    /// When the daemon started.
    pub started_at: Timestamp,
    /// `running`, `reloading` or `stopping`.
    pub state: String,
    /// Where tasks run by default.
    pub workspace: String,
    /// Where the state is kept.
    pub state_directory: String,
    /// Where the sockets are.
    pub runtime_directory: String,
    /// Its configuration files, in the order they were read.
    pub config: Vec<String>,
    /// Why the last reload was refused; the old configuration runs on.
    pub config_error: Option<String>,
    /// The keeper.
    pub keeper: KeeperStatus,
    /// Tasks by state.
    pub tasks: TaskCounts,
    /// Wakes that nobody has acknowledged.
    pub wakes: u64,
    /// Open client connections.
    pub sessions: u32,
    /// The tool groups a client can have as a server of its own, `bash` first.
    #[serde(default)]
    pub tool_groups: Vec<String>,
    /// The MCP servers a client can have as a server of its own.
    #[serde(default)]
    pub mcp_servers: Vec<String>,
    /// Every protection, and whether it holds here.
    pub enforcement: Vec<Enforcement>,
}

/// The process that owns the children.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KeeperStatus {
    /// Whether it answers.
    pub connected: bool,
    /// Its pid.
    pub pid: Option<u32>,
    /// Its version.
    pub version: Option<String>,
    /// The protocol both speak.
    pub protocol: Option<u32>,
}

/// How many tasks are in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskCounts {
    /// Running, or waiting for their restart.
    pub running: u64,
    /// At rest, their last run was clean.
    pub inactive: u64,
    /// At rest, their last run failed.
    pub failed: u64,
}

/// One protection and whether the kernel and the place of the keeper give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Enforcement {
    /// What is protected: `cgroup`, `memory_max`, `tasks_max`, `cpu_quota`, `signal_scope`, `environ`, …
    pub name: String,
    /// It holds.
    pub enforced: bool,
    /// How it is enforced, or why it is not and what would change that.
    pub detail: String,
}

//! The top level.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Approval, Bash, Control, Environment, Hook, Limits, McpHttp, McpServer, Plugin, Sandbox,
    ScriptSchedule, ToolRule, Turn,
};
use crate::config::check::BUILT_IN_GROUPS;

/// Who owns the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpawnerKind {
    /// `harness-keeper`.
    #[default]
    Keeper,
    /// systemd: every unit is a transient unit, started over D-Bus.
    Systemd,
}

/// The configuration of one harness: `AGENT.toml`, then `AGENT.toml.d/*.toml` over it.
///
/// Time spans are seconds or systemd's syntax (`"1min 30s"`), sizes bytes or with a suffix (`"512M"`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The directory the agent works in: absolute, or below `~`. In user mode it defaults to the
    /// directory the daemon was started in; in system mode it must be set.
    pub workspace: Option<PathBuf>,
    /// The tool groups that are offered beside `bash`, which always is.
    #[schemars(extend("x-built-in" = BUILT_IN_GROUPS.map(|group| group.name)))]
    pub tool_groups: Vec<String>,
    /// Who owns the processes. Changing it needs a restart.
    pub spawner: SpawnerKind,
    /// Write every event to `trace.ndjson` in the state directory, too.
    pub trace: bool,
    /// Whether the agent may save and delete scripts.
    pub manage_scripts: bool,
    /// Put the command `tools` on the `PATH` of tasks and shell calls.
    pub tools_in_shell: bool,
    /// Background tasks: the tool group `bash`.
    pub bash: Bash,
    /// The environment of tasks, shell calls and turns.
    pub environment: Environment,
    /// Limits of calls.
    pub limits: Limits,
    /// When a person is asked.
    pub approval: Approval,
    /// Rules for one tool, by its name or a glob; the most specific one wins.
    pub tool: BTreeMap<String, ToolRule>,
    /// File and network rules for tasks, shell calls and turns.
    pub sandbox: Sandbox,
    /// MCP servers by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// Plugins by the name of their tool group.
    pub plugin: BTreeMap<String, Plugin>,
    /// Programs that are asked before or after each call; in this order.
    pub hook: Vec<Hook>,
    /// Timers that run a saved script, by name.
    pub script_schedule: BTreeMap<String, ScriptSchedule>,
    /// Runs one agent turn when a wake is due.
    pub turn: Option<Turn>,
    /// The person's side: `control.sock`.
    pub control: Control,
    /// The agent's side over TCP, for clients that only speak HTTP.
    pub mcp_http: Option<McpHttp>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workspace: None,
            tool_groups: ["shell", "scripts", "wakes"].map(str::to_owned).to_vec(),
            spawner: SpawnerKind::default(),
            trace: false,
            manage_scripts: false,
            tools_in_shell: true,
            bash: Bash::default(),
            environment: Environment::default(),
            limits: Limits::default(),
            approval: Approval::default(),
            tool: BTreeMap::new(),
            sandbox: Sandbox::default(),
            mcp: BTreeMap::new(),
            plugin: BTreeMap::new(),
            hook: Vec::new(),
            script_schedule: BTreeMap::new(),
            turn: None,
            control: Control::default(),
            mcp_http: None,
        }
    }
}

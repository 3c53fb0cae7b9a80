//! What a reload changes.

use std::fmt;

use super::{load::Loaded, schema::Config};

/// A part of the configuration that is put into effect on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// `workspace`: new tasks and calls start there, running ones stay where they are.
    Workspace,
    /// `tool_groups`
    ToolGroups,
    /// `spawner`
    Spawner,
    /// `trace`
    Trace,
    /// `manage_scripts`, `tools_in_shell` and `[script_schedule]`
    Scripts,
    /// `[bash]` without its unit defaults
    Bash,
    /// `[bash.unit]`: for new tasks
    BashUnit,
    /// `[environment]`: for new tasks and calls
    Environment,
    /// `[limits]`
    Limits,
    /// `[approval]`
    Approval,
    /// `[tool]`
    Tools,
    /// `[sandbox]`: for new tasks and calls
    Sandbox,
    /// `[mcp]`
    McpServers,
    /// `[plugin]`
    Plugins,
    /// `[[hook]]`
    Hooks,
    /// `[turn]`: for the next turn
    Turn,
    /// `[control]` without its admins: address and token
    Control,
    /// `[control] admins`
    Admins,
    /// `[mcp_http]`: address and token
    McpHttp,
}

impl Part {
    /// The name of its key or table.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::ToolGroups => "tool_groups",
            Self::Spawner => "spawner",
            Self::Trace => "trace",
            Self::Scripts => "scripts",
            Self::Bash => "bash",
            Self::BashUnit => "bash.unit",
            Self::Environment => "environment",
            Self::Limits => "limits",
            Self::Approval => "approval",
            Self::Tools => "tool",
            Self::Sandbox => "sandbox",
            Self::McpServers => "mcp",
            Self::Plugins => "plugin",
            Self::Hooks => "hook",
            Self::Turn => "turn",
            Self::Control => "control",
            Self::Admins => "control.admins",
            Self::McpHttp => "mcp_http",
        }
    }

    /// Whether a reload cannot change it: running units belong to the spawner that started them.
    #[must_use]
    pub const fn needs_restart(self) -> bool {
        matches!(self, Self::Spawner)
    }
}

/// The parts that differ between two configurations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes(Vec<Part>);

impl Changes {
    /// What `new` changes in `old`; a new token or a moved shell counts, too.
    #[must_use]
    pub fn between(old: &Loaded, new: &Loaded) -> Self {
        let (before, after) = (&old.config, &new.config);
        let differs = [
            (Part::Workspace, old.workspace != new.workspace),
            (Part::ToolGroups, before.tool_groups != after.tool_groups),
            (Part::Spawner, before.spawner != after.spawner),
            (Part::Trace, before.trace != after.trace),
            (Part::Scripts, scripts(before) != scripts(after)),
            (
                Part::Bash,
                old.shell != new.shell || bash(before) != bash(after),
            ),
            (Part::BashUnit, before.bash.unit != after.bash.unit),
            (Part::Environment, before.environment != after.environment),
            (Part::Limits, before.limits != after.limits),
            (Part::Approval, before.approval != after.approval),
            (Part::Tools, before.tool != after.tool),
            (Part::Sandbox, before.sandbox != after.sandbox),
            (Part::McpServers, before.mcp != after.mcp),
            (Part::Plugins, before.plugin != after.plugin),
            (Part::Hooks, before.hook != after.hook),
            (Part::Turn, before.turn != after.turn),
            (
                Part::Control,
                before.control.listen != after.control.listen
                    || old.tokens.control != new.tokens.control,
            ),
            (Part::Admins, old.admins != new.admins),
            (
                Part::McpHttp,
                before.mcp_http != after.mcp_http || old.tokens.mcp_http != new.tokens.mcp_http,
            ),
        ];
        Self(
            differs
                .into_iter()
                .filter(|(_, differs)| *differs)
                .map(|(part, _)| part)
                .collect(),
        )
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a part differs.
    #[must_use]
    pub fn contains(&self, part: Part) -> bool {
        self.0.contains(&part)
    }

    /// The parts, in the order of [`Part`].
    pub fn iter(&self) -> impl Iterator<Item = Part> {
        self.0.iter().copied()
    }

    /// Those that take effect with the next start only.
    pub fn needing_restart(&self) -> impl Iterator<Item = Part> {
        self.iter().filter(|part| part.needs_restart())
    }
}

impl fmt::Display for Changes {
    /// The names, separated by commas; `nothing` when there are none.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return formatter.write_str("nothing");
        }
        let names: Vec<&str> = self.iter().map(Part::as_str).collect();
        formatter.write_str(&names.join(", "))
    }
}

fn scripts(config: &Config) -> impl PartialEq {
    (
        config.manage_scripts,
        config.tools_in_shell,
        config.script_schedule.clone(),
    )
}

fn bash(config: &Config) -> impl PartialEq {
    let bash = &config.bash;
    (
        bash.shell.clone(),
        bash.max_wait_sec,
        bash.max_tasks,
        bash.output_max,
    )
}

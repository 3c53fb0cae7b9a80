//! From the configuration to the policy.

use std::path::Path;

use harness_authorize::{ApprovalMode, Mode, Policy, ToolRule};
use harness_model::SandboxProfile;

use crate::config::{ChildEnvironment, Config, Loaded, schema};

/// What a policy stands on beside the rules.
pub(crate) struct Ground<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) shell: &'a Path,
    pub(crate) sandbox: &'a SandboxProfile,
    pub(crate) environment: &'a ChildEnvironment,
    /// The directory with the command `tools`, which every script may execute, since each of its calls is judged by
    /// itself.
    pub(crate) commands: Option<&'a str>,
}

impl<'a> Ground<'a> {
    pub(crate) fn of(
        loaded: &'a Loaded,
        environment: &'a ChildEnvironment,
        commands: Option<&'a str>,
    ) -> Self {
        Self {
            workspace: &loaded.workspace,
            shell: &loaded.shell,
            sandbox: &loaded.sandbox,
            environment,
            commands,
        }
    }
}

/// What the configuration says about calls. Its patterns were checked when it was loaded.
pub(crate) fn of(config: &Config, ground: &Ground<'_>) -> Policy {
    let rules = config.tool.iter().filter_map(|(name, rule)| {
        let mode = match rule.mode? {
            schema::ToolMode::Off => Mode::Off,
            schema::ToolMode::Ask => Mode::Ask,
            schema::ToolMode::Allowlist => Mode::Allowlist,
            schema::ToolMode::Allow => Mode::Allow,
        };
        let parsed = ToolRule::new(name, mode, &rule.allowlist);
        if let Err(error) = &parsed {
            tracing::error!(%error, "a rule that cannot be read asks about everything");
        }
        // Without its list it lets nothing through.
        let mut parsed = parsed.or_else(|_| ToolRule::new(name, mode, &[])).ok()?;
        let home = ground.environment.get("HOME");
        parsed.execute = rule
            .execute
            .iter()
            .map(|entry| entry_in_full(entry, home))
            .chain(
                ground
                    .commands
                    .map(|directory| format!("{directory}/tools")),
            )
            .collect();
        Some(parsed)
    });
    let mut policy = Policy::of_groups(config.tool_groups.iter().cloned())
        .with_servers(config.mcp.keys().cloned())
        .with_rules(rules.collect());
    policy.approval = match config.approval.mode {
        schema::ApprovalMode::Off => ApprovalMode::Off,
        schema::ApprovalMode::Normal => ApprovalMode::Normal,
        schema::ApprovalMode::Protective => ApprovalMode::Protective,
    };
    ground.workspace.clone_into(&mut policy.workspace);
    policy.shell = Some(ground.shell.to_owned());
    policy.sandbox = ground.sandbox.clone();
    policy
}

/// An entry of `execute`, its `~` being the home of tasks.
fn entry_in_full(entry: &str, home: Option<&str>) -> String {
    match (Path::new(entry).strip_prefix("~"), home) {
        (Ok(below), Some(home)) => Path::new(home).join(below).display().to_string(),
        (Ok(_) | Err(_), _) => entry.to_owned(),
    }
}

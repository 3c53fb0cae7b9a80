//! From the configuration to the policy.

use std::path::Path;

use harness_authorize::{ApprovalMode, Mode, Policy, ToolRule};

use crate::config::{Config, schema};

/// What the configuration says about calls. Its patterns were checked when it was loaded.
pub(crate) fn of(config: &Config, workspace: &Path, shell: &Path) -> Policy {
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
        parsed.or_else(|_| ToolRule::new(name, mode, &[])).ok()
    });
    let mut policy =
        Policy::of_groups(config.tool_groups.iter().cloned()).with_rules(rules.collect());
    policy.approval = match config.approval.mode {
        schema::ApprovalMode::Off => ApprovalMode::Off,
        schema::ApprovalMode::Normal => ApprovalMode::Normal,
        schema::ApprovalMode::Protective => ApprovalMode::Protective,
    };
    workspace.clone_into(&mut policy.workspace);
    policy.shell = Some(shell.to_owned());
    policy
}

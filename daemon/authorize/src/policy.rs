//! What the configuration allows.

use std::{collections::BTreeSet, path::PathBuf};

use harness_bashscan::{Pattern, PatternError};
use harness_model::{SandboxProfile, Tool};

use crate::name::{Names, plain};

/// The tool groups that never can be switched off.
const ALWAYS: [&str; 1] = ["bash"];

/// What the gate does with a call of a tool (`[tool.NAME] mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is refused.
    Off,
    /// A person is asked.
    Ask,
    /// What matches the allowlist runs, a person is asked about the rest.
    Allowlist,
    /// It runs.
    Allow,
}

impl Mode {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Ask => "ask",
            Self::Allowlist => "allowlist",
            Self::Allow => "allow",
        }
    }
}

/// When a person is asked about a tool that no rule names (`[approval] mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalMode {
    /// Never.
    Off,
    /// Before what may destroy, what reaches beyond this machine and does not only read, and what was
    /// rated as changing something.
    #[default]
    Normal,
    /// Before all but what is declared to only read.
    Protective,
}

/// One `[tool.NAME]`.
#[derive(Debug, Clone)]
pub struct ToolRule {
    /// A tool's name, `GROUP__TOOL`, or a glob over either.
    pub name: String,
    plain: String,
    /// What the gate does.
    pub mode: Mode,
    /// What may be executed beside the programs of a script that the allowlist let through; see
    /// [`Allowance`](harness_model::Allowance).
    pub execute: Vec<String>,
    pub(crate) allowlist: Vec<Pattern>,
}

/// An entry of an allowlist that is no pattern.
#[derive(Debug, thiserror::Error)]
#[error("[tool.{tool}] allowlist: {entry:?} is not a pattern: {source}")]
pub struct RuleError {
    /// The rule.
    pub tool: String,
    /// The entry.
    pub entry: String,
    /// What is wrong with it.
    pub source: PatternError,
}

/// Whether a rule of this name is about the tool, be there closer ones or not.
#[must_use]
pub fn names(name: &str, tool: &Tool) -> bool {
    Names::of(tool).closeness(&plain(name), false).is_some()
}

impl ToolRule {
    /// A rule with its allowlist parsed.
    ///
    /// # Errors
    /// An entry that is no pattern.
    pub fn new(name: &str, mode: Mode, allowlist: &[String]) -> Result<Self, RuleError> {
        let parse = |entry: &String| match Pattern::parse(entry) {
            Ok(pattern) => Ok(pattern),
            Err(source) => Err(RuleError {
                tool: name.to_owned(),
                entry: entry.clone(),
                source,
            }),
        };
        let mut allowlist: Vec<Pattern> = allowlist.iter().map(parse).collect::<Result<_, _>>()?;
        // What `tools` calls comes to this gate by itself.
        allowlist.extend(Pattern::parse("tools *"));
        Ok(Self {
            name: name.to_owned(),
            plain: plain(name),
            mode,
            execute: Vec::new(),
            allowlist,
        })
    }
}

/// The policy of one harness.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    groups: BTreeSet<String>,
    servers: BTreeSet<String>,
    rules: Vec<ToolRule>,
    /// When a person is asked about a tool that no rule names.
    pub approval: ApprovalMode,
    /// The directory below which an allowlisted command may write; absolute.
    pub workspace: PathBuf,
    /// What commands run with where the call does not say; `bash` when it is none.
    pub shell: Option<PathBuf>,
    /// The sandbox of shell calls, more of which has to be asked for.
    pub sandbox: SandboxProfile,
}

impl Policy {
    /// A policy that lets the named tool groups through; `bash` is always among them.
    #[must_use]
    pub fn of_groups<T: Into<String>>(groups: impl IntoIterator<Item = T>) -> Self {
        let always = ALWAYS.into_iter().map(str::to_owned);
        Self {
            groups: groups.into_iter().map(Into::into).chain(always).collect(),
            ..Self::default()
        }
    }

    /// The same with the tool groups of MCP servers, whose tools only their full names and globs over those mean: a
    /// server that calls a tool `shell` does not come by the rule for the harness's own.
    #[must_use]
    pub fn with_servers<T: Into<String>>(mut self, servers: impl IntoIterator<Item = T>) -> Self {
        self.servers = servers.into_iter().map(Into::into).collect();
        self
    }

    /// The same with rules for tools.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<ToolRule>) -> Self {
        self.rules = rules;
        self
    }

    /// Whether the group is switched on.
    #[must_use]
    pub fn has_group(&self, group: &str) -> bool {
        self.groups.contains(group) || self.servers.contains(group)
    }

    /// The rule that names the tool most closely.
    #[must_use]
    pub fn rule_for(&self, tool: &Tool) -> Option<&ToolRule> {
        let of_tool = Names::of(tool);
        let foreign = self.servers.contains(&tool.group);
        let named = self
            .rules
            .iter()
            .filter_map(|rule| Some((of_tool.closeness(&rule.plain, foreign)?, rule)));
        named
            .max_by_key(|(closeness, _)| *closeness)
            .map(|(_, rule)| rule)
    }
}

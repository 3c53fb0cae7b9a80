//! `[tool.NAME]`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Example;

/// What the gate does with a call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolMode {
    /// It is refused.
    Off,
    /// A person is asked.
    Ask,
    /// What matches the allowlist runs, a person is asked about the rest.
    Allowlist,
    /// It runs.
    Allow,
}

/// A rule for one tool, or for those that a glob matches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolRule {
    /// What the gate does; without it, `[approval] mode` decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolMode>,
    /// Commands that run without asking in mode `allowlist`: word by word, with globs within a
    /// word, and a lone `*` for all further words.
    pub allowlist: Vec<String>,
    /// What the commands that the allowlist let through may execute beside their own programs: programs by
    /// name, absolute paths of programs or directories, or paths below `~`; `*` is anything.
    pub execute: Vec<String>,
    /// Calls that this entry, in the whole of the policy, allows without a question: a command each, or the tool's input
    /// as a table. The configuration is refused when one of them is not.
    #[serde(rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Example>,
    /// Calls that it does not allow without a question. The configuration is refused when one of them is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<Example>,
    /// The time limit of a call that names none, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_timeout_ms: Option<u64>,
    /// The longest time limit a call may have, in milliseconds, at most 600000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_timeout_ms: Option<u64>,
}

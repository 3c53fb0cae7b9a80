//! `[approval]`

use harness_model::TimeSpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a person is asked about a tool that no `[tool]` rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Never.
    Off,
    /// Before destructive tools, before tools that reach beyond this machine and are not declared
    /// read-only, and before those that are rated as changing something.
    #[default]
    Normal,
    /// Before all tools that are not declared read-only.
    Protective,
}

/// When a person is asked, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// When a person is asked about a tool that no `[tool]` rule names.
    pub mode: ApprovalMode,
    /// After this long without an answer the call is rejected; nothing is remembered of it.
    pub timeout_sec: TimeSpan,
    /// How long a direct call is held for the answer before it returns `needs_approval`.
    pub hold_sec: TimeSpan,
    /// Ask in the agent's MCP client, too (elicitation), where it can and is no process of the agent's own.
    pub elicitation: bool,
    /// Whether tools that declare no annotations at all are rated before they are judged in the mode `normal`: a person
    /// is asked about what is rated as changing something, and about what nobody can rate. If not, they run.
    pub rate_unlabeled: bool,
    /// The program that rates, with its arguments; asked once about each such tool. It reads `{"group":…,"tool":…,
    /// "description":…,"input_schema":…,"annotations":{}}` and answers `{"changes":true,"reason":"…"}` within 10 s.
    pub rater: Vec<String>,
    /// Tool groups and MCP servers whose tools stay direct calls instead of moving behind `tools`.
    pub keep_visible: Vec<String>,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            mode: ApprovalMode::default(),
            timeout_sec: TimeSpan::from_secs(900),
            hold_sec: TimeSpan::from_secs(50),
            elicitation: false,
            rate_unlabeled: true,
            rater: Vec::new(),
            keep_visible: Vec::new(),
        }
    }
}

//! What an allowlist let through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a script runs without a question, and what it was read to run: it may execute no more than that.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Allowance {
    /// The table whose allowlist it is, such as `[tool.shell]`.
    pub rule: String,
    /// The command words of the script, as they are written in it; builtins are among them.
    pub programs: Vec<String>,
    /// What `execute` of the same table names beside them: programs by name, absolute paths, or `*` for all.
    pub execute: Vec<String>,
    /// The script changes its directory, so a relative path in it may lead to several files.
    pub moves: bool,
}

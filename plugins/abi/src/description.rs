//! What `describe` gives, as both sides read it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The key of a tool's `_meta` in MCP by which the host passes on that it is direct.
pub const DIRECT_META: &str = "org.harnessd/direct";

/// What a plugin is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a model should know before it uses the tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The JSON Schema of its settings, an object; without one it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings_schema: Option<Value>,
    /// Its tools, in the order in which they are listed.
    pub tools: Vec<ToolDescription>,
}

/// One tool, in MCP's words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDescription {
    /// Its name.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its input, an object.
    pub input_schema: Value,
    /// The JSON Schema of its structured result, an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What its author says of it.
    #[serde(default)]
    pub annotations: Annotations,
    /// It stays a direct call where others move behind the command `tools`.
    #[serde(default)]
    pub direct: bool,
}

/// What a tool's author says of it (MCP `ToolAnnotations`). What is not said is left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice is calling it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

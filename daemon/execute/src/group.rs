//! What a tool group is.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use harness_model::{Call, CallContext, ErrorCode, Outcome, Refusal, SandboxRules, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A set of tools under one name.
pub trait ToolGroup: Send + Sync + 'static {
    /// The group's name, as it stands in `tool_groups`.
    fn name(&self) -> &str;

    /// Its tools.
    fn tools(&self) -> Vec<Tool>;

    /// A tool as the MCP server behind it lists it, with what [`Tool`] has no words for.
    fn original(&self, tool: &str) -> Option<Arc<Map<String, Value>>> {
        let _ = tool;
        None
    }

    /// The input as it will be carried out: what the caller left open is filled in, what the configuration limits is
    /// clamped. It was validated; what comes back is what is judged, recorded and shown. Preparing it again
    /// changes nothing.
    ///
    /// # Errors
    /// What no schema can say, such as a directory out of the workspace.
    fn prepare(
        &self,
        tool: &str,
        input: Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        let _ = tool;
        Ok(input)
    }

    /// The rules that a prepared call would run under; `None` where it starts no process.
    fn sandbox(&self, call: &Call) -> Option<SandboxRules> {
        let _ = call;
        None
    }

    /// Carries out one call. Dropping the future takes the call back.
    fn execute<'a>(&'a self, call: &'a Call, context: &'a CallContext) -> BoxFuture<'a, Outcome>;
}

/// The call's input as the type its schema was made from.
///
/// # Errors
/// `invalid_input`: what a schema cannot say, such as a malformed time span.
pub fn input<T: DeserializeOwned>(call: &Call) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(Value::Object(call.input.clone()))
        .map_err(|error| Refusal::new(ErrorCode::InvalidInput, format!("{}: {error}", call.tool)))
}

/// The answer to a tool name that the group does not have; the catalogue resolves names before.
pub(crate) fn no_such_tool(call: &Call) -> Refusal {
    Refusal::new(
        ErrorCode::UnknownCommand,
        format!("the group {} has no tool {}", call.group, call.tool),
    )
}

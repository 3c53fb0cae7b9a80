//! Why a call of a server's tool has no result.

use harness_model::{ErrorCode, Refusal};
use serde_json::json;

use super::connection::CallFailure;

/// The member of a refusal's details that holds a server's own JSON-RPC error.
const JSONRPC_ERROR: &str = "jsonrpc_error";

/// It is down, and will be started again.
pub(super) fn down(server: &str, why: Option<&str>) -> Refusal {
    let why = why.unwrap_or("it is being started");
    unavailable(format!(
        "the MCP server {server} is down and is being started again: {why}"
    ))
    .retryable()
}

/// It will not be started again by itself.
pub(super) fn failed(server: &str, code: ErrorCode, why: Option<&str>) -> Refusal {
    let why = why.unwrap_or("nobody knows why");
    let message = format!(
        "the MCP server {server} has failed and is not started again by itself \
         (`harnessctl plugins start {server}` does): {why}"
    );
    Refusal::new(code, message)
}

/// A person stopped it.
pub(super) fn stopped(server: &str) -> Refusal {
    unavailable(format!(
        "the MCP server {server} was stopped by a person: `harnessctl plugins start {server}` starts it"
    ))
}

fn unavailable(message: String) -> Refusal {
    Refusal::new(ErrorCode::Unavailable, message)
}

/// What the end of one call means for its caller.
pub(super) fn of(server: &str, failure: CallFailure, stderr: Option<String>) -> Refusal {
    let said = stderr.map_or_else(String::new, |text| {
        format!("; its standard error ends with: {text}")
    });
    match failure {
        CallFailure::Answered {
            code,
            message,
            data,
        } => {
            let mut error = json!({"code": code, "message": message});
            if let Some(data) = data {
                error["data"] = data;
            }
            Refusal::new(ErrorCode::ToolError, message)
                .with_details(json!({ JSONRPC_ERROR: error }))
        }
        CallFailure::NotSent(why) => unavailable(format!(
            "the call did not reach the MCP server {server}: {why}{said}"
        ))
        .retryable(),
        CallFailure::Lost(why) => {
            let message = format!(
                "the call was sent to the MCP server {server}, and nobody knows what became of it: {why}{said}. Look at \
                 what it should have changed before you make it again"
            );
            Refusal::new(ErrorCode::OutcomeUnknown, message)
        }
        CallFailure::Unauthorized(why) => Refusal::new(
            ErrorCode::ConnectionRequired,
            format!("the MCP server {server}: {why}; give it one in [mcp.{server}] credentials"),
        ),
        CallFailure::Unreadable(why) => Refusal::new(
            ErrorCode::ToolError,
            format!("the MCP server {server} answered, but {why}"),
        ),
    }
}

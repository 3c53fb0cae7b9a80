//! Refusals with the group's own codes, in the message and in the details.

use harness_model::{ErrorCode, Refusal};
use serde_json::json;

fn with_code(code: ErrorCode, own: &str, message: &str) -> Refusal {
    Refusal::new(code, format!("{own}: {message}")).with_details(json!({ "code": own }))
}

/// The tool is switched off.
pub(super) fn disabled() -> Refusal {
    let message = "the tool shell is switched off: a person can set another `mode` in [tool.shell]";
    with_code(ErrorCode::Denied, "ETOOL_DISABLED", message)
}

/// The directory is not one of the workspace.
pub(super) fn outside(cwd: &str) -> Refusal {
    let message = format!(
        "cwd {} leaves the workspace: give a path below it, relative to it and without `..`",
        shown(cwd)
    );
    with_code(ErrorCode::InvalidInput, "EOUTSIDE_PROJECT", &message)
}

/// A part of the input that cannot be carried out.
pub(super) fn invalid(message: &str) -> Refusal {
    with_code(ErrorCode::InvalidInput, "EINVAL", message)
}

/// A text of the caller's as it may stand in a message.
pub(super) fn shown(text: &str) -> String {
    let head: String = text.chars().take(200).collect();
    format!("{head:?}")
}

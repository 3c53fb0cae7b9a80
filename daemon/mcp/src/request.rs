//! Requests that rmcp could not read: it takes a known method with wrong parameters for an unknown
//! method.

#[expect(
    deprecated,
    reason = "SEP-2577 deprecates logging, every session revision has it"
)]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, ErrorCode, ErrorData, GetTaskParams,
    InitializeRequestParams, PaginatedRequestParams, SubscriptionsListenRequestParams,
    UpdateTaskParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The answer to a request that rmcp could not read: either the method is unknown, or its parameters
/// are wrong.
pub(crate) fn unreadable(method: &str, params: Option<Value>) -> ErrorData {
    match fault_of_parameters(method, params) {
        Some(reason) => {
            let message = format!("invalid parameters for {method}: {reason}");
            ErrorData::invalid_params(message, None)
        }
        None => unknown_method(method),
    }
}

/// The answer to a request for a method that is not there.
pub(crate) fn unknown_method(method: &str) -> ErrorData {
    let message = format!("there is no method {method:?}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// The reason, for a method that this server has; `None` for any other method.
#[expect(
    deprecated,
    reason = "SEP-2577 deprecates logging, every session revision has it"
)]
fn fault_of_parameters(method: &str, params: Option<Value>) -> Option<String> {
    let params = params.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let fault = match method {
        "initialize" => fault::<InitializeRequestParams>(params),
        "tools/call" => fault::<CallToolRequestParams>(params),
        "tools/list" => fault::<PaginatedRequestParams>(params),
        "logging/setLevel" => fault::<SetLevelRequestParams>(params),
        "tasks/get" => fault::<GetTaskParams>(params),
        "tasks/update" => fault::<UpdateTaskParams>(params),
        "tasks/cancel" => fault::<CancelTaskParams>(params),
        "subscriptions/listen" => fault::<SubscriptionsListenRequestParams>(params),
        "ping" | "server/discover" => fault::<serde_json::Map<String, Value>>(params),
        _ => return None,
    };
    Some(fault.unwrap_or_else(|| "_meta is not an object".to_owned()))
}

fn fault<T: DeserializeOwned>(params: Value) -> Option<String> {
    serde_json::from_value::<T>(params)
        .err()
        .map(|error| error.to_string())
}

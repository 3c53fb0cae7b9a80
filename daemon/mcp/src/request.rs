//! Why the parameters of a known method were not understood.

#[expect(
    deprecated,
    reason = "SEP-2577 deprecates logging, every session revision has it"
)]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, GetTaskParams, InitializeRequestParams,
    PaginatedRequestParams, SubscriptionsListenRequestParams, UpdateTaskParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The reason, for a method that this server has; `None` for any other method.
#[expect(
    deprecated,
    reason = "SEP-2577 deprecates logging, every session revision has it"
)]
pub(crate) fn fault_of_parameters(method: &str, params: Option<Value>) -> Option<String> {
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

//! The methods of MCP, each a translation.

use harness_model::{CallContext, Delivery};
#[expect(
    deprecated,
    reason = "SEP-2577 deprecates logging, every session revision has it"
)]
use rmcp::model::SetLevelRequestParams;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
        GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult,
        JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        ServerResult, SubscriptionFilter, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};

use serde_json::Value;

use crate::{
    backend::View,
    connection::{Connection, is_stateless},
    convert,
    message::{self, LISTING},
    notice, request, task,
};

/// The `_meta` key of a server's own name.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Tools on one page. More than this many are rare, and many clients do not follow pages.
const PAGE: usize = 200;

/// Methods of sessions that the stateless protocol does not have.
const REMOVED: [&str; 3] = ["initialize", "logging/setLevel", "ping"];

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let foreign = self.backend().server_info(self.view());
        let foreign = foreign.and_then(|info| serde_json::from_value(info).ok());
        let info = foreign.unwrap_or_else(|| {
            let name = self.backend().server_name(self.view());
            Implementation::new(name, env!("CARGO_PKG_VERSION"))
        });
        let config = ServerConfig::new(capabilities()).with_server_info(info);
        match self.backend().instructions(self.view()) {
            Some(instructions) => config.with_instructions(instructions),
            None => config,
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.session().id().is_some() {
            let message = "this session is initialized; open another connection for another one";
            return Err(ErrorData::invalid_request(message, None));
        }
        if let View::Server(_) = self.view() {
            self.backend().ready(self.view()).await;
        }
        let mut negotiated = self.negotiate_initialize(&request)?;
        // The only extension, and sessions have no shape for its answers.
        negotiated.capabilities.extensions = None;
        self.session().collect_notices();
        self.session().open(&request.client_info.name);
        context.peer.set_peer_info(request);
        Ok(negotiated)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.session().relay_notices(context.peer);
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.backend().ready(self.view()).await;
        let listing = self.listing().map_err(|refusal| convert::error(&refusal))?;
        let entries = listing.entries();
        let start = match request.and_then(|page| page.cursor) {
            None => 0,
            Some(cursor) => match cursor.parse::<usize>() {
                Ok(start) if start > 0 && start < entries.len() && start % PAGE == 0 => start,
                Ok(_) | Err(_) => {
                    let message =
                        "the cursor is not one of this list; list the tools from the start";
                    return Err(ErrorData::invalid_params(message, None));
                }
            },
        };
        let end = entries.len().min(start + PAGE);
        let tools = entries.get(start..end).unwrap_or_default();
        let mut page = ListToolsResult::with_all_items(
            tools.iter().map(|entry| entry.listed.clone()).collect(),
        );
        page.next_cursor = (end < entries.len()).then(|| end.to_string());
        Ok(page)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listing = self.listing().ok()?;
        listing.get(name).map(|entry| entry.listed.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await
    }

    #[expect(
        deprecated,
        reason = "SEP-2577 deprecates logging, every session revision has it"
    )]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(request::unknown_method("logging/setLevel"));
        }
        self.session().set_level(request.level as u8);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.subscribe();
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        notice::listen(self.subscribed(), context).await;
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        if !is_stateless(&context) {
            return Err(request::unknown_method("tasks/get"));
        }
        let call = self.call_context(&context);
        let delivery = call.delivery.clone();
        let handle = self.backend().task_get(&request.task_id, call).await;
        let handle = handle.map_err(|refusal| convert::error(&refusal))?;
        self.answered(&delivery);
        Ok(task::detailed(handle))
    }

    /// No task of this harness asks its client for input, so there is nothing to hand on; an answer
    /// to a task that does not exist is refused.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !is_stateless(&context) {
            return Err(request::unknown_method("tasks/update"));
        }
        // The answer says nothing of the task, so nothing hangs on its arrival.
        let call = CallContext {
            delivery: Delivery::default(),
            ..self.call_context(&context)
        };
        let handle = self.backend().task_get(&request.task_id, call).await;
        handle.map(drop).map_err(|refusal| convert::error(&refusal))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !is_stateless(&context) {
            return Err(request::unknown_method("tasks/cancel"));
        }
        let call = self.call_context(&context);
        let cancelled = self.backend().task_cancel(&request.task_id, call).await;
        cancelled.map_err(|refusal| convert::error(&refusal))
    }

    /// rmcp hands over here what it does not know, and also known methods with wrong parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let stateless = is_stateless(&context);
        if stateless && REMOVED.contains(&method.as_str()) {
            return Err(request::unknown_method(&method));
        }
        if method == LISTING {
            return self.list_as_they_are(params, context).await;
        }
        if method == "tools/call"
            && let Some(answer) = params
                .as_ref()
                .and_then(|params| self.misshapen_call(params))
        {
            let mut result = ServerResult::from(answer?);
            if !stateless {
                result.strip_result_type_for_legacy_peer();
            }
            let result = serde_json::to_value(result)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            return Ok(CustomResult::new(result));
        }
        Err(request::unreadable(&method, params))
    }
}

impl Connection {
    /// `tools/list` with the tools of MCP servers as those list them.
    async fn list_as_they_are(
        &self,
        params: Option<Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = message::shown_listing(params);
        let request = serde_json::from_value(params.clone())
            .map_err(|_| request::unreadable(LISTING, Some(params)))?;
        let stateless = is_stateless(&context);
        let mut result = ServerResult::ListToolsResult(self.list_tools(request, context).await?);
        if stateless {
            result.fill_missing_cache_hints();
        } else {
            result.strip_result_type_for_legacy_peer();
            result.strip_non_object_output_for_legacy_peer();
        }
        let mut result = serde_json::to_value(result)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let listing = self.listing().map_err(|refusal| convert::error(&refusal))?;
        let tools = result["tools"].as_array_mut().into_iter().flatten();
        for tool in tools.filter_map(Value::as_object_mut) {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            if let Some(entry) = listing.get(name) {
                entry.restore(tool);
            }
        }
        if let Some(info) = self.foreign_info(stateless) {
            result["_meta"][SERVER_INFO] = info;
        }
        Ok(CustomResult::new(result))
    }

    /// Who answers, as each result of the stateless protocol says, where an MCP server does.
    pub(crate) fn foreign_info(&self, stateless: bool) -> Option<Value> {
        stateless
            .then(|| self.backend().server_info(self.view()))
            .flatten()
    }
}

fn capabilities() -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_tasks()
        .build();
    capabilities.logging = Some(JsonObject::new());
    capabilities
}

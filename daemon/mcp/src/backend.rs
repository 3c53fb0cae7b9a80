//! What this front asks of the rest of the daemon, and the few nouns that only it needs.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use harness_model::{
    CallContext, Outcome, Refusal, SessionId, TaskState, Timestamp, Tool, ToolOutput, Wake,
};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

/// The part of the catalogue that a connection sees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum View {
    /// All of it; tools of MCP servers are called `SERVER__TOOL`.
    All,
    /// One tool group under its own names.
    Group(String),
    /// One MCP server under its own names.
    Server(String),
}

/// A tool under the name by which a view shows it.
#[derive(Debug, Clone)]
pub struct Exposed {
    /// The name in this view.
    pub name: String,
    /// The tool.
    pub tool: Arc<Tool>,
    /// As the MCP server behind it lists it, with what the harness has no words for.
    pub original: Option<Arc<Map<String, Value>>>,
}

/// What connected clients are told of their own accord.
#[derive(Debug, Clone)]
pub enum Notice {
    /// The tools of some view are others now. Sent after [`Backend::tools`] shows the change.
    ToolsChanged,
    /// Wakes became due.
    Wakes(Vec<Wake>),
}

/// A call that runs as an MCP task (SEP-2663).
#[derive(Debug, Clone)]
pub struct TaskHandle {
    /// Its id, as `tasks/get` takes it.
    pub id: String,
    /// Where it stands.
    pub state: TaskState,
    /// One line for a person on that.
    pub message: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
    /// Its result, once it has ended.
    pub output: Option<ToolOutput>,
}

/// What came of starting a call as a task.
#[derive(Debug, Clone)]
pub enum TaskStart {
    /// It ended within the time the call waits: its result, as of any other call.
    Ended(ToolOutput),
    /// It goes on.
    Started(TaskHandle),
}

/// The daemon behind the front. Synchronous functions must not block: they run on the connection's task.
pub trait Backend: Send + Sync + 'static {
    /// Resolves when the first listing of the view is worth showing: servers that are on their way have come, or have
    /// taken too long. Mostly that is at once.
    fn ready(&self, view: &View) -> BoxFuture<'static, ()>;

    /// The tools of a view, in the order in which clients list them; refused when there is no such
    /// group or server. The list is kept until [`Notice::ToolsChanged`].
    fn tools(&self, view: &View) -> Result<Vec<Exposed>, Refusal>;

    /// What a model should know before it uses the view (MCP `instructions`).
    fn instructions(&self, view: &View) -> Option<String>;

    /// The MCP server name of the view, such as `bash`.
    fn server_name(&self, view: &View) -> String;

    /// What the MCP server that the view shows says of itself (MCP `Implementation`), where it shows one.
    fn server_info(&self, view: &View) -> Option<Value>;

    /// Calls a tool. Dropping the future cancels the call.
    fn call(
        &self,
        view: &View,
        name: &str,
        input: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome>;

    /// Whether this call runs as a task, for clients that declare the tasks extension (SEP-2663).
    fn task_of(&self, view: &View, name: &str, input: &Map<String, Value>) -> bool;

    /// Starts such a call, waiting as long as it asks for. The task outlives the connection.
    fn task_start(
        &self,
        view: &View,
        name: &str,
        input: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Result<TaskStart, Refusal>>;

    /// The task as it is now. An end that the caller learns by it needs no other notice.
    fn task_get(
        &self,
        id: &str,
        context: CallContext,
    ) -> BoxFuture<'static, Result<TaskHandle, Refusal>>;

    /// Asks the task to end; resolves when that has begun, which may be long before the end.
    fn task_cancel(
        &self,
        id: &str,
        context: CallContext,
    ) -> BoxFuture<'static, Result<(), Refusal>>;

    /// A client has introduced itself; `client` is the name it gave, cut to 128 characters.
    fn session_opened(&self, session: &SessionId, client: &str);

    /// An opened session has ended.
    fn session_closed(&self, session: &SessionId);

    /// Notices from now on. A receiver that lags loses wakes (they stay due) but no change of tools.
    fn notices(&self) -> broadcast::Receiver<Notice>;
}

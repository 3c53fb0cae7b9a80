//! What this front needs from the harness.

use std::{sync::Arc, time::Duration};

use futures_util::{future::BoxFuture, stream::BoxStream};
use harness_model::{
    Answer, Approval, ApprovalId, CallContext, CallQuery, CallRecord, CallRequest, Event,
    Explanation, HarnessStatus, Invocation, Outcome, OutputChunk, Page, PluginLog, PluginStatus,
    Refusal, Standing, Stream, TaskQuery, TaskStatus, Tool, UnitId, UnitQuery, UnitStatus, Wake,
    WakeId,
};
use serde_json::{Map, Value};

/// An answer that is on its way. Dropping it takes the question back: the client is gone.
pub type Reply<'a, T> = BoxFuture<'a, Result<T, Refusal>>;

/// Pieces of one output stream, in order; ends after the piece with `eof`.
pub type OutputStream = BoxStream<'static, Result<OutputChunk, Refusal>>;

/// Events with their ids (`BOOT-SEQ`), in order, for as long as the daemon runs.
pub type EventStream = BoxStream<'static, (String, Arc<Event>)>;

/// What a person does with an MCP server or plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginAction {
    /// Start it, whatever it was stopped or given up for.
    Start,
    /// Stop it for good.
    Stop,
    /// Stop it and start it again.
    Restart,
}

/// The harness, as the person's side sees it.
///
/// What acts on a task (`run`, `stop`, `signal`) is a call of the tool group `bash` through the one
/// gate, [`Control::call`]; the rest reads. An id that never was is `unknown_command`.
pub trait Control: Send + Sync + 'static {
    /// What the harness says of itself.
    fn status(&self) -> Reply<'_, HarnessStatus>;

    /// Calls a tool through the gate.
    fn call(&self, request: CallRequest, context: CallContext) -> BoxFuture<'_, Outcome>;

    /// The tools of every group that is switched on.
    fn tools(&self) -> Reply<'_, Vec<Tool>>;

    /// One of them, by `GROUP__TOOL` or by a name that only one group has.
    fn tool(&self, name: String) -> Reply<'_, Tool>;

    /// A task, after waiting at most `wait` for its end. A result that was waited for sends no wake.
    fn task(&self, id: UnitId, wait: Duration) -> Reply<'_, TaskStatus>;

    /// Tasks, newest first. `limit` is always set, 1 to [`Page::MAX_LIMIT`].
    fn tasks(&self, query: TaskQuery) -> Reply<'_, Page<TaskStatus>>;

    /// At most `limit` bytes of a stream from `offset` on.
    fn task_output(
        &self,
        id: UnitId,
        stream: Stream,
        offset: u64,
        limit: usize,
    ) -> Reply<'_, OutputChunk>;

    /// A stream from `offset` on, as it grows, until the task has ended and all was sent.
    fn task_follow(&self, id: UnitId, stream: Stream, offset: u64) -> Reply<'_, OutputStream>;

    /// Starts a task anew under its id, stopping it first if it runs.
    fn task_restart(&self, id: UnitId, context: CallContext) -> Reply<'_, TaskStatus>;

    /// A unit of any kind.
    fn unit(&self, id: UnitId) -> Reply<'_, UnitStatus>;

    /// Units, newest first. `limit` is always set, 1 to [`Page::MAX_LIMIT`].
    fn units(&self, query: UnitQuery) -> Reply<'_, Page<UnitStatus>>;

    /// The newest `limit` runs of a unit.
    fn invocations(&self, id: UnitId, limit: u32) -> Reply<'_, Vec<Invocation>>;

    /// MCP servers and plugins, by name.
    fn plugins(&self) -> Reply<'_, Vec<PluginStatus>>;

    /// One of them.
    fn plugin(&self, name: String) -> Reply<'_, PluginStatus>;

    /// Starts or stops one; answers when that is done, or with the reason why it cannot be.
    fn plugin_act(&self, name: String, action: PluginAction) -> Reply<'_, PluginStatus>;

    /// The last `lines` lines that one wrote to its standard error.
    fn plugin_log(&self, name: String, lines: u32) -> Reply<'_, PluginLog>;

    /// Wakes that are due, oldest first, without counting them as delivered.
    fn wakes(&self, limit: u32) -> Reply<'_, Vec<Wake>>;

    /// Takes delivery of the wakes that are due, after waiting at most `wait` for the first.
    fn wakes_recv(&self, wait: Duration) -> Reply<'_, Vec<Wake>>;

    /// Acknowledges wakes; the ids among them that were due.
    fn wakes_ack(&self, ids: Vec<WakeId>) -> Reply<'_, Vec<WakeId>>;

    /// Questions that wait for an answer, oldest first; or the newest ones, whatever became of them.
    fn approvals(&self, pending: bool, limit: u32) -> Reply<'_, Vec<Approval>>;

    /// A person's answer; `by` says who it was.
    fn approval_answer(&self, id: ApprovalId, answer: Answer, by: String) -> Reply<'_, Approval>;

    /// Answers that hold for calls to come.
    fn standing(&self) -> Reply<'_, Vec<Standing>>;

    /// Takes one of them back.
    fn standing_revoke(&self, id: i64) -> Reply<'_, ()>;

    /// Which rules decide about a call; runs nothing and asks nobody.
    fn explain(&self, tool: String, input: Map<String, Value>) -> Reply<'_, Explanation>;

    /// Calls, newest first. `limit` is always set, 1 to [`Page::MAX_LIMIT`].
    fn calls(&self, query: CallQuery) -> Reply<'_, Page<CallRecord>>;

    /// Events after `last_event_id`, or from now on. What was dropped is told by a `dropped` event.
    fn events(&self, last_event_id: Option<String>) -> EventStream;

    /// Reads the configuration anew; a bad one is refused, and the old one runs on.
    fn reload(&self) -> Reply<'_, ()>;
}

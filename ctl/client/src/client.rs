//! The endpoints, one method each.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use harness_model::{
    Answer, Approval, ApprovalId, CallId, CallQuery, CallRecord, Explanation, HarnessStatus,
    Invocation, OutputChunk, Page, PluginLog, PluginStatus, RunInput, Signal, Standing, Stream,
    TaskQuery, TaskStatus, Tool, ToolOutput, UnitId, UnitQuery, UnitStatus, Wake, WakeId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    Error, Events, Follow, Result, Selector, Socket, Surroundings,
    backoff::Backoff,
    subscription::Subscription,
    transport::{Ask, encode, send, target},
};

/// The longest wait of one request; the harness clamps longer ones.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// What became of questions that were answered together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Those that were open and have the answer now.
    pub answered: Vec<Approval>,
    /// Why the others have not, one for each.
    pub refused: Vec<String>,
}

/// A harness's control socket. Each request has a connection of its own.
#[derive(Debug, Clone)]
pub struct Client {
    socket: PathBuf,
}

impl Client {
    /// The harness that listens on this socket.
    #[must_use]
    pub fn at(socket: impl Into<PathBuf>) -> Self {
        Self {
            socket: socket.into(),
        }
    }

    /// The harness that `selector` names. Connects to nothing yet.
    ///
    /// # Errors
    /// Those of [`Selector::find`].
    pub fn find(selector: &Selector) -> Result<Self> {
        selector
            .find(Socket::Control, &Surroundings::current())
            .map(Self::at)
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What the harness says of itself.
    pub async fn status(&self) -> Result<HarnessStatus> {
        send(&self.socket, Ask::get("/v1/status")).await
    }

    /// Has the configuration read anew.
    pub async fn reload(&self) -> Result<HarnessStatus> {
        send(&self.socket, Ask::post("/v1/reload", None)).await
    }

    /// Starts a task and waits for it as long as its input says.
    pub async fn run(&self, input: &RunInput) -> Result<TaskStatus> {
        send(
            &self.socket,
            Ask::post("/v1/tasks", Some(body("POST /v1/tasks", input)?)),
        )
        .await
    }

    /// The tools of every group that is switched on.
    pub async fn tools(&self) -> Result<Vec<Tool>> {
        send(&self.socket, Ask::get("/v1/tools")).await
    }

    /// A tool, by `GROUP__TOOL` or by a name that only one group has.
    pub async fn tool(&self, name: &str) -> Result<Tool> {
        send(
            &self.socket,
            Ask::get(format!("/v1/tools/{}", encode(name))),
        )
        .await
    }

    /// Calls a tool. With an `id` of the caller's own making its events can be told from others.
    pub async fn call(
        &self,
        tool: &str,
        input: &Map<String, Value>,
        id: Option<&CallId>,
    ) -> Result<ToolOutput> {
        let mut path = format!("/v1/tools/{}/call", encode(tool));
        if let Some(id) = id {
            path = format!("{path}?id={id}");
        }
        let body = body("POST /v1/tools/NAME/call", input)?;
        send(&self.socket, Ask::post(path, Some(body))).await
    }

    /// A task, after waiting at most `wait` (5 minutes at the longest) for its end.
    pub async fn task(&self, id: &UnitId, wait: Duration) -> Result<TaskStatus> {
        send(
            &self.socket,
            Ask::get(format!("/v1/tasks/{id}?wait={}", wait.as_secs_f64())),
        )
        .await
    }

    /// A task, after waiting for its end or until `limit` has passed. A restart of the daemon is waited out.
    pub async fn task_end(&self, id: &UnitId, limit: Option<Duration>) -> Result<TaskStatus> {
        let started = Instant::now();
        let mut backoff = Backoff::new();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            match self
                .task(id, left.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT))
                .await
            {
                Ok(status) if status.status.has_ended() || left == Some(Duration::ZERO) => {
                    return Ok(status);
                }
                Ok(_) => backoff.reset(),
                Err(error) => backoff.pause(error).await?,
            }
        }
    }

    /// Tasks, newest first.
    pub async fn tasks(&self, query: &TaskQuery) -> Result<Page<TaskStatus>> {
        send(&self.socket, Ask::get(target("/v1/tasks", query))).await
    }

    /// At most `limit` bytes of a task's output from `offset` on.
    pub async fn output(
        &self,
        id: &UnitId,
        stream: Stream,
        offset: u64,
        limit: Option<usize>,
    ) -> Result<OutputChunk> {
        let mut query = json!({ "stream": stream, "offset": offset });
        if let Some(limit) = limit {
            query["limit"] = limit.into();
        }
        send(
            &self.socket,
            Ask::get(target(&format!("/v1/tasks/{id}/output"), &query)),
        )
        .await
    }

    /// A task's output from `offset` on, as it grows.
    pub async fn follow(&self, id: &UnitId, stream: Stream, offset: u64) -> Result<Follow> {
        let query = json!({ "stream": stream, "offset": offset, "follow": 1 });
        let target = target(&format!("/v1/tasks/{id}/output"), &query);
        let subscription = Subscription::open(self.socket.clone(), target, None).await?;
        Ok(Follow {
            subscription,
            ended: false,
        })
    }

    /// Stops a task and its whole tree.
    pub async fn stop(&self, id: &UnitId) -> Result<TaskStatus> {
        send(
            &self.socket,
            Ask::post(format!("/v1/tasks/{id}/stop"), None),
        )
        .await
    }

    /// Starts a task anew under its id.
    pub async fn restart(&self, id: &UnitId) -> Result<TaskStatus> {
        send(
            &self.socket,
            Ask::post(format!("/v1/tasks/{id}/restart"), None),
        )
        .await
    }

    /// Sends a signal to a task.
    pub async fn signal(&self, id: &UnitId, signal: Signal) -> Result<TaskStatus> {
        let target = format!("/v1/tasks/{id}/signal");
        let body = body("POST /v1/tasks/ID/signal", &json!({ "signal": signal }))?;
        send(&self.socket, Ask::post(target, Some(body))).await
    }

    /// Units of every kind, newest first.
    pub async fn units(&self, query: &UnitQuery) -> Result<Page<UnitStatus>> {
        send(&self.socket, Ask::get(target("/v1/units", query))).await
    }

    /// A unit.
    pub async fn unit(&self, id: &UnitId) -> Result<UnitStatus> {
        send(&self.socket, Ask::get(format!("/v1/units/{id}"))).await
    }

    /// The newest runs of a unit.
    pub async fn invocations(&self, id: &UnitId, limit: Option<u32>) -> Result<Vec<Invocation>> {
        let path = format!("/v1/units/{id}/invocations");
        send(&self.socket, Ask::get(limited(&path, limit))).await
    }

    /// MCP servers and plugins.
    pub async fn plugins(&self) -> Result<Vec<PluginStatus>> {
        send(&self.socket, Ask::get("/v1/plugins")).await
    }

    /// Starts an MCP server or plugin, whatever it was stopped or given up for.
    pub async fn plugin_start(&self, name: &str) -> Result<PluginStatus> {
        self.plugin_act(name, "start").await
    }

    /// Stops one; no call starts it again.
    pub async fn plugin_stop(&self, name: &str) -> Result<PluginStatus> {
        self.plugin_act(name, "stop").await
    }

    /// Stops one and starts it again.
    pub async fn plugin_restart(&self, name: &str) -> Result<PluginStatus> {
        self.plugin_act(name, "restart").await
    }

    async fn plugin_act(&self, name: &str, action: &str) -> Result<PluginStatus> {
        let path = format!("/v1/plugins/{}/{action}", encode(name));
        send(&self.socket, Ask::post(path, None)).await
    }

    /// The last lines that one wrote to its standard error.
    pub async fn plugin_log(&self, name: &str, lines: u32) -> Result<PluginLog> {
        let path = format!("/v1/plugins/{}/logs?lines={lines}", encode(name));
        send(&self.socket, Ask::get(path)).await
    }

    /// Wakes that are due, oldest first.
    pub async fn wakes(&self, limit: Option<u32>) -> Result<Vec<Wake>> {
        send(&self.socket, Ask::get(limited("/v1/wakes", limit))).await
    }

    /// Takes delivery of the wakes that are due, after waiting at most `wait` for the first.
    pub async fn wakes_recv(&self, wait: Duration) -> Result<Vec<Wake>> {
        let body = body(
            "POST /v1/wakes/recv",
            &json!({ "wait_seconds": wait.as_secs_f64() }),
        )?;
        send(&self.socket, Ask::post("/v1/wakes/recv", Some(body))).await
    }

    /// The same, waiting until `limit` has passed; empty if none came. A restart of the daemon is waited out.
    pub async fn wakes_wait(&self, limit: Option<Duration>) -> Result<Vec<Wake>> {
        let started = Instant::now();
        let mut backoff = Backoff::new();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            let received = self.wakes_recv(left.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT));
            match received.await {
                Ok(wakes) if !wakes.is_empty() || left == Some(Duration::ZERO) => return Ok(wakes),
                Ok(_) => backoff.reset(),
                Err(error) => backoff.pause(error).await?,
            }
        }
    }

    /// Acknowledges wakes; the ids among them that were due.
    pub async fn wakes_ack(&self, ids: &[WakeId]) -> Result<Vec<WakeId>> {
        #[derive(Deserialize)]
        struct Acknowledged {
            acknowledged: Vec<WakeId>,
        }
        let body = body("POST /v1/wakes/ack", &json!({ "ids": ids }))?;
        let answer: Acknowledged =
            send(&self.socket, Ask::post("/v1/wakes/ack", Some(body))).await?;
        Ok(answer.acknowledged)
    }

    /// Questions that wait for a person's answer, oldest first; with `all` the newest ones, whatever
    /// became of them.
    pub async fn approvals(&self, all: bool) -> Result<Vec<Approval>> {
        let query = json!({ "all": all });
        send(&self.socket, Ask::get(target("/v1/approvals", &query))).await
    }

    /// Answers questions; what became of each.
    pub async fn answer(&self, ids: &[ApprovalId], answer: Answer) -> Result<Answers> {
        let answers = json!({ "ids": ids, "answer": answer });
        let body = body("POST /v1/approvals/answer", &answers)?;
        send(&self.socket, Ask::post("/v1/approvals/answer", Some(body))).await
    }

    /// Answers that hold for calls to come.
    pub async fn standing(&self) -> Result<Vec<Standing>> {
        send(&self.socket, Ask::get("/v1/approvals/standing")).await
    }

    /// Takes one of them back; what still stands.
    pub async fn revoke(&self, id: i64) -> Result<Vec<Standing>> {
        let body = body("POST /v1/approvals/revoke", &json!({ "id": id }))?;
        send(&self.socket, Ask::post("/v1/approvals/revoke", Some(body))).await
    }

    /// Which rules decide about a call; runs nothing.
    pub async fn explain(&self, tool: &str, input: &Map<String, Value>) -> Result<Explanation> {
        let call = json!({ "tool": tool, "input": input });
        let body = body("POST /v1/explain", &call)?;
        send(&self.socket, Ask::post("/v1/explain", Some(body))).await
    }

    /// Calls of tools, newest first.
    pub async fn calls(&self, query: &CallQuery) -> Result<Page<CallRecord>> {
        send(&self.socket, Ask::get(target("/v1/calls", query))).await
    }

    /// Events after `since`, or from now on.
    pub async fn events(&self, since: Option<String>) -> Result<Events> {
        let subscription = Subscription::open(self.socket.clone(), "/v1/events".to_owned(), since);
        subscription.await.map(Events)
    }
}

fn limited(path: &str, limit: Option<u32>) -> String {
    limit.map_or_else(|| path.to_owned(), |limit| format!("{path}?limit={limit}"))
}

fn body(endpoint: &str, value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|source| Error::Decode {
        endpoint: endpoint.to_owned(),
        source,
    })
}

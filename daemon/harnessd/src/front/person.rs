//! The person's side: what `control.sock` asks of the harness, in the harness's own words.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::BoxFuture, stream};
use harness_mcp::View;
use harness_model::{
    Answer, Approval, ApprovalId, CallContext, CallQuery, CallRecord, CallRequest, ErrorCode,
    Explanation, Front, HarnessStatus, Invocation, Outcome, OutputChunk, Page, PluginLog,
    PluginStatus, Refusal, Standing, StoredUnit, Stream, TaskQuery, TaskStatus, Tool, UnitId,
    UnitQuery, UnitStatus, Wake, WakeId,
};
use harness_supervise::output::{Follow, last_lines};
use serde_json::{Map, Value};

use super::http::backend::{Control, EventStream, OutputStream, PluginAction, Reply};
use crate::{harness::Harness, wakes::unavailable};

/// How many bytes one piece of followed output has at most.
const PIECE: u32 = 65_536;

/// How many bytes of a log one answer has at most.
const LOG_MOST: usize = 1 << 20;

/// The harness behind `control.sock`.
pub(crate) struct Person {
    harness: Arc<Harness>,
}

impl Person {
    pub(crate) fn new(harness: Arc<Harness>) -> Self {
        Self { harness }
    }

    async fn stored(&self, id: &UnitId) -> Result<StoredUnit, Refusal> {
        let stored = self.harness.record().unit(id).await;
        let stored = stored.map_err(|error| unavailable(&error))?;
        stored.ok_or_else(|| {
            Refusal::new(ErrorCode::UnknownCommand, format!("there is no unit {id}"))
        })
    }

    /// The engine knows a live unit's state better than the record.
    fn freshest(&self, stored: &StoredUnit) -> UnitStatus {
        let mut status = stored.status();
        if let Some(handle) = self.harness.engine().get(&status.id) {
            status.state = handle.state();
        }
        status
    }
}

impl Control for Person {
    fn status(&self) -> Reply<'_, HarnessStatus> {
        Box::pin(async move {
            self.harness
                .status()
                .await
                .map_err(|error| unavailable(&error))
        })
    }

    fn call(&self, request: CallRequest, context: CallContext) -> BoxFuture<'_, Outcome> {
        Box::pin(self.harness.call(request, context))
    }

    fn tools(&self) -> Reply<'_, Vec<Tool>> {
        let policy = &self.harness.in_force().policy;
        let exposed = self.harness.catalogue().exposed(&View::All, policy);
        let tools = exposed.map(|tools| tools.iter().map(|one| Tool::clone(&one.tool)).collect());
        Box::pin(std::future::ready(tools))
    }

    fn tool(&self, name: String) -> Reply<'_, Tool> {
        let request = CallRequest {
            group: None,
            tool: name,
            input: serde_json::Map::new(),
        };
        let entry = self.harness.catalogue().resolve(&request);
        Box::pin(std::future::ready(
            entry.map(|entry| Tool::clone(&entry.tool)),
        ))
    }

    fn task(&self, id: UnitId, wait: Duration) -> Reply<'_, TaskStatus> {
        Box::pin(async move { self.harness.bash().status_of(&id, wait).await })
    }

    fn tasks(&self, query: TaskQuery) -> Reply<'_, Page<TaskStatus>> {
        Box::pin(async move { self.harness.bash().page(query).await })
    }

    fn task_output(
        &self,
        id: UnitId,
        stream: Stream,
        offset: u64,
        limit: usize,
    ) -> Reply<'_, OutputChunk> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Box::pin(async move {
            self.harness
                .bash()
                .output_of(&id, stream, offset, limit)
                .await
        })
    }

    fn task_follow(&self, id: UnitId, stream: Stream, offset: u64) -> Reply<'_, OutputStream> {
        Box::pin(async move {
            let follower = Follower::of(self.harness.clone(), id, stream, offset).await?;
            let pieces = stream::unfold(Some(follower), |follower| async {
                let mut follower = follower?;
                match follower.next().await {
                    Ok(chunk) if chunk.eof => Some((Ok(chunk), None)),
                    Ok(chunk) => Some((Ok(chunk), Some(follower))),
                    Err(refusal) => Some((Err(refusal), None)),
                }
            });
            Ok(pieces.boxed())
        })
    }

    fn task_restart(&self, id: UnitId, context: CallContext) -> Reply<'_, TaskStatus> {
        Box::pin(async move {
            let mut input = serde_json::Map::new();
            input.insert("id".to_owned(), id.to_string().into());
            let request = CallRequest {
                group: Some("bash".to_owned()),
                tool: "restart".to_owned(),
                input,
            };
            self.harness.call(request, context).await?;
            self.harness.bash().status_of(&id, Duration::ZERO).await
        })
    }

    fn unit(&self, id: UnitId) -> Reply<'_, UnitStatus> {
        Box::pin(async move {
            let stored = self.stored(&id).await?;
            Ok(self.freshest(&stored))
        })
    }

    fn units(&self, query: UnitQuery) -> Reply<'_, Page<UnitStatus>> {
        Box::pin(async move {
            let page = self.harness.record().units(query).await;
            let page = page.map_err(|error| unavailable(&error))?;
            let units = page.items.iter().map(|stored| self.freshest(stored));
            // One that has changed since the record was asked is not what was asked for.
            let asked_for = |unit: &UnitStatus| {
                let state = unit.state.active_state;
                query.state.is_none_or(|asked| asked == state)
            };
            Ok(Page {
                items: units.filter(asked_for).collect(),
                next: page.next,
            })
        })
    }

    fn invocations(&self, id: UnitId, limit: u32) -> Reply<'_, Vec<Invocation>> {
        Box::pin(async move {
            self.stored(&id).await?;
            let runs = self.harness.record().invocations(&id, limit).await;
            runs.map_err(|error| unavailable(&error))
        })
    }

    fn plugins(&self) -> Reply<'_, Vec<PluginStatus>> {
        Box::pin(std::future::ready(Ok(self.harness.servers().status())))
    }

    fn plugin(&self, name: String) -> Reply<'_, PluginStatus> {
        let server = self.harness.servers().get(&name);
        Box::pin(std::future::ready(server.map(|server| server.status())))
    }

    fn plugin_act(&self, name: String, action: PluginAction) -> Reply<'_, PluginStatus> {
        Box::pin(async move {
            let server = self.harness.servers().get(&name)?;
            match action {
                PluginAction::Start => server.start().await,
                PluginAction::Stop => Ok(server.stop().await),
                PluginAction::Restart => server.restart().await,
            }
        })
    }

    fn plugin_log(&self, name: String, lines: u32) -> Reply<'_, PluginLog> {
        Box::pin(async move {
            let path = self.harness.servers().get(&name)?.log_file()?;
            let lines = usize::try_from(lines).unwrap_or(usize::MAX);
            let text = last_lines(&path, lines, LOG_MOST).map_err(|error| {
                let message = format!("{} cannot be read: {error}", path.display());
                Refusal::new(ErrorCode::Unavailable, message).retryable()
            })?;
            Ok(PluginLog {
                text: self.harness.redactor().text(text),
                path: path.display().to_string(),
            })
        })
    }

    fn wakes(&self, limit: u32) -> Reply<'_, Vec<Wake>> {
        Box::pin(async move {
            self.harness
                .record()
                .wakes(limit)
                .await
                .map_err(|error| unavailable(&error))
        })
    }

    fn wakes_recv(&self, wait: Duration) -> Reply<'_, Vec<Wake>> {
        Box::pin(async move { self.harness.wake_tools().receive(wait, 200).await })
    }

    fn wakes_ack(&self, ids: Vec<WakeId>) -> Reply<'_, Vec<WakeId>> {
        Box::pin(async move {
            self.harness
                .record()
                .wakes_ack(&ids)
                .await
                .map_err(|error| unavailable(&error))
        })
    }

    fn approvals(&self, pending: bool, limit: u32) -> Reply<'_, Vec<Approval>> {
        Box::pin(self.harness.approvals().list(pending, limit))
    }

    fn approval_answer(&self, id: ApprovalId, answer: Answer, by: String) -> Reply<'_, Approval> {
        let timeout = self.harness.patience(Front::Http).timeout;
        Box::pin(self.harness.approvals().answer(id, answer, by, timeout))
    }

    fn standing(&self) -> Reply<'_, Vec<Standing>> {
        Box::pin(self.harness.approvals().standing())
    }

    fn standing_revoke(&self, id: i64) -> Reply<'_, ()> {
        Box::pin(self.harness.approvals().revoke(id))
    }

    fn explain(&self, tool: String, input: Map<String, Value>) -> Reply<'_, Explanation> {
        Box::pin(async move { self.harness.explain(tool, input).await })
    }

    fn calls(&self, query: CallQuery) -> Reply<'_, Page<CallRecord>> {
        Box::pin(async move {
            let page = self.harness.record().calls(query).await;
            page.map_err(|error| unavailable(&error))
        })
    }

    fn events(&self, last_event_id: Option<String>) -> EventStream {
        let bus = self.harness.bus().clone();
        let events = bus.subscribe(last_event_id.as_deref());
        events.map(move |event| (bus.id_of(&event), event)).boxed()
    }

    fn reload(&self) -> Reply<'_, ()> {
        Box::pin(async move {
            self.harness
                .reload()
                .map_err(|message| Refusal::new(ErrorCode::InvalidInput, message))
        })
    }
}

/// Reads one stream of a task as it grows, woken by the file and by the task's end.
struct Follower {
    harness: Arc<Harness>,
    id: UnitId,
    stream: Stream,
    offset: u64,
    growth: Follow,
}

impl Follower {
    async fn of(
        harness: Arc<Harness>,
        id: UnitId,
        stream: Stream,
        offset: u64,
    ) -> Result<Self, Refusal> {
        let (spec, _) = harness.bash().spec_of(&id).await?;
        let path = match stream {
            Stream::Stdout => spec.output.stdout,
            Stream::Stderr => spec.output.stderr,
        };
        let growth = Follow::new(&path, offset).map_err(|error| {
            Refusal::new(
                ErrorCode::Unavailable,
                format!("cannot watch {}: {error}", path.display()),
            )
            .retryable()
        })?;
        Ok(Self {
            harness,
            id,
            stream,
            offset,
            growth,
        })
    }

    /// The next piece that has text in it or is the last.
    async fn next(&mut self) -> Result<OutputChunk, Refusal> {
        loop {
            let handle = self.harness.bash().live(&self.id);
            let chunk = self
                .harness
                .bash()
                .output_of(&self.id, self.stream, self.offset, PIECE)
                .await?;
            let progressed = chunk.next_offset > self.offset;
            self.offset = chunk.next_offset;
            if progressed || chunk.eof {
                return Ok(chunk);
            }
            let Some(handle) = handle else { continue };
            tokio::select! {
                grown = self.growth.grown() => {
                    grown.map_err(|error| {
                        Refusal::new(ErrorCode::Unavailable, format!("the output cannot be watched any more: {error}"))
                    })?;
                }
                _ = handle.wait_end() => {}
            }
        }
    }
}

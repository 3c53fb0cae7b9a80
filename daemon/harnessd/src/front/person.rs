//! The person's side: what `control.sock` asks of the harness, in the harness's own words.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::BoxFuture, stream};
use harness_mcp::View;
use harness_model::{
    Answer, Approval, ApprovalId, CallContext, CallQuery, CallRecord, CallRequest, ErrorCode,
    Explanation, HarnessStatus, Invocation, Outcome, OutputChunk, Page, Refusal, Standing, Stream,
    TaskQuery, TaskStatus, Tool, UnitId, UnitQuery, UnitStatus, Wake, WakeId,
};
use harness_supervise::output::Follow;
use serde_json::{Map, Value};

use super::http::backend::{Control, EventStream, OutputStream, Reply};
use crate::{harness::Harness, wakes::unavailable};

/// How many bytes one piece of followed output has at most.
const PIECE: u32 = 65_536;

/// How many pages of a filtered list one request looks through.
const PAGES: usize = 20;

/// The harness behind `control.sock`.
pub(crate) struct Person {
    harness: Arc<Harness>,
}

impl Person {
    pub(crate) fn new(harness: Arc<Harness>) -> Self {
        Self { harness }
    }
}

fn no_such_unit(id: &UnitId) -> Refusal {
    Refusal::new(ErrorCode::UnknownCommand, format!("there is no unit {id}"))
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
        Box::pin(async move {
            let limit = query.limit.unwrap_or(Page::<TaskStatus>::DEFAULT_LIMIT);
            let (mut items, mut next) = (Vec::new(), query.before);
            for page in 0..PAGES {
                let tasks = self.harness.bash().page(next, limit).await?;
                let wanted =
                    |task: &TaskStatus| query.state.is_none_or(|state| task.status == state);
                items.extend(tasks.items.into_iter().filter(wanted));
                next = tasks.next;
                if next.is_none()
                    || items.len() >= limit as usize
                    || query.state.is_none()
                    || page + 1 == PAGES
                {
                    break;
                }
            }
            Ok(Page { items, next })
        })
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
            let stored = self
                .harness
                .record()
                .unit(&id)
                .await
                .map_err(|error| unavailable(&error))?;
            let mut status = stored.ok_or_else(|| no_such_unit(&id))?.status();
            if let Some(handle) = self.harness.engine().get(&id) {
                status.state = handle.state();
            }
            Ok(status)
        })
    }

    fn units(&self, query: UnitQuery) -> Reply<'_, Page<UnitStatus>> {
        Box::pin(async move {
            let wanted = harness_record::UnitQuery {
                kind: query.kind,
                live: None,
                before: query.before,
                limit: query.limit.unwrap_or(Page::<UnitStatus>::DEFAULT_LIMIT),
            };
            let page = self
                .harness
                .record()
                .units(wanted)
                .await
                .map_err(|error| unavailable(&error))?;
            let fresh = |stored: harness_model::StoredUnit| {
                let mut status = stored.status();
                if let Some(handle) = self.harness.engine().get(&status.id) {
                    status.state = handle.state();
                }
                status
            };
            let is_wanted = |status: &UnitStatus| {
                query
                    .state
                    .is_none_or(|state| status.state.active_state == state)
            };
            Ok(Page {
                items: page
                    .items
                    .into_iter()
                    .map(fresh)
                    .filter(is_wanted)
                    .collect(),
                next: page.next,
            })
        })
    }

    fn invocations(&self, id: UnitId, limit: u32) -> Reply<'_, Vec<Invocation>> {
        Box::pin(async move {
            let record = self.harness.record();
            if record
                .unit(&id)
                .await
                .map_err(|error| unavailable(&error))?
                .is_none()
            {
                return Err(no_such_unit(&id));
            }
            let runs = record
                .invocations(&id, limit)
                .await
                .map_err(|error| unavailable(&error))?;
            let run = |run: harness_record::Invocation| Invocation {
                id: run.id,
                started_at: run.started_at,
                exit: run.exit,
            };
            Ok(runs.into_iter().map(run).collect())
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
        let timeout = self.harness.patience().timeout;
        Box::pin(self.harness.approvals().answer(id, answer, by, timeout))
    }

    fn standing(&self) -> Reply<'_, Vec<Standing>> {
        Box::pin(self.harness.approvals().standing())
    }

    fn standing_revoke(&self, id: i64) -> Reply<'_, ()> {
        Box::pin(self.harness.approvals().revoke(id))
    }

    fn explain(&self, tool: String, input: Map<String, Value>) -> Reply<'_, Explanation> {
        Box::pin(async move { self.harness.explain(tool, input) })
    }

    fn calls(&self, query: CallQuery) -> Reply<'_, Page<CallRecord>> {
        Box::pin(async move {
            let wanted = harness_record::CallQuery {
                parent: None,
                session: query.session,
                tool: query.tool,
                state: query.state,
                before: query.before,
                limit: query.limit.unwrap_or(Page::<CallRecord>::DEFAULT_LIMIT),
            };
            let page = self
                .harness
                .record()
                .calls(wanted)
                .await
                .map_err(|error| unavailable(&error))?;
            Ok(Page {
                items: page.items,
                next: page.next,
            })
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

//! What was asked and not answered yet, and what servers say of their own accord.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use harness_model::Progress;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, oneshot, watch};

use super::{
    error::{Cause, ClientError},
    incoming::{self, Incoming},
    request::{Report, answer},
};

/// Events that a slow listener may be behind; it learns that it missed some.
const BACKLOG: usize = 256;

/// Lines of noise that are told of; of the rest only their number.
const NOISE_TOLD: u64 = 5;

/// Bytes of noise between two messages that are a flood.
const FLOOD: u64 = 64 * 1024 * 1024;

/// Of a line of noise, so many characters are told.
const EXCERPT: usize = 200;

/// What a server says of its own accord.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// A notification, as it came.
    Notification {
        /// Its method, such as `notifications/tools/list_changed`.
        method: String,
        /// Its parameters.
        params: Map<String, Value>,
    },
    /// Something on its standard output that is no message; the first lines only.
    Noise(String),
}

type Answer = oneshot::Sender<Result<Value, ClientError>>;

#[derive(Default)]
struct Open {
    answers: HashMap<i64, Answer>,
    reports: HashMap<i64, Report>,
    noise_lines: u64,
    /// Since the last message.
    noise_bytes: u64,
}

/// The state of one connection.
pub(crate) struct Exchange {
    open: Mutex<Open>,
    events: broadcast::Sender<ServerEvent>,
    ended: watch::Sender<Option<Cause>>,
}

impl Exchange {
    pub(crate) fn new() -> Self {
        Self {
            open: Mutex::default(),
            events: broadcast::channel(BACKLOG).0,
            ended: watch::Sender::new(None),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Expects the answer to a request.
    pub(crate) fn expect(
        &self,
        id: i64,
    ) -> Result<oneshot::Receiver<Result<Value, ClientError>>, ClientError> {
        let (sender, receiver) = oneshot::channel();
        let mut open = self.open();
        // Looked at under the lock, so that none is left waiting when it ends.
        if let Some(cause) = &*self.ended.borrow() {
            return Err(ClientError::NotSent(cause.clone()));
        }
        open.answers.insert(id, sender);
        Ok(receiver)
    }

    /// Progress of this request is wanted.
    pub(crate) fn watch_progress(&self, id: i64, report: Report) {
        self.open().reports.insert(id, report);
    }

    /// The request is over; says whether its answer was still awaited.
    pub(crate) fn forget(&self, id: i64) -> bool {
        let mut open = self.open();
        open.reports.remove(&id);
        open.answers.remove(&id).is_some()
    }

    /// Takes what came in. Gives back what has to be answered.
    pub(crate) fn receive(&self, text: &[u8]) -> Result<Vec<Vec<u8>>, Cause> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let Some(messages) = incoming::read(text) else {
            return self.noise(text).map(|()| Vec::new());
        };
        self.open().noise_bytes = 0;
        Ok(messages
            .into_iter()
            .filter_map(|message| self.take(message))
            .collect())
    }

    /// Takes one message. Gives back the answer, if it wants one from us.
    pub(crate) fn take(&self, message: Incoming) -> Option<Vec<u8>> {
        match message {
            Incoming::Response { id, outcome } => {
                self.resolve(id, outcome.map_err(ClientError::from));
                None
            }
            Incoming::Request { id, method, .. } => Some(match method.as_str() {
                "ping" => answer(&id, Ok(json!({}))),
                _ => answer(&id, Err((-32601, "the harness does not offer this method"))),
            }),
            Incoming::Notification { method, params } => {
                self.notified(method, params);
                None
            }
        }
    }

    fn notified(&self, method: String, params: Map<String, Value>) {
        if method == "notifications/progress" {
            let token = params.get("progressToken").and_then(Value::as_i64);
            let report = token.and_then(|id| self.open().reports.get(&id).cloned());
            if let (Some(report), Some(progress)) =
                (report, params.get("progress").and_then(Value::as_f64))
            {
                report(Progress {
                    progress,
                    total: params.get("total").and_then(Value::as_f64),
                    message: params
                        .get("message")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                });
            }
            return;
        }
        // Nobody may be listening.
        let _listeners = self
            .events
            .send(ServerEvent::Notification { method, params });
    }

    /// A message that was too long to be read; says whether it was an answer that is accounted for.
    pub(crate) fn too_long(&self, beginning: &[u8]) -> bool {
        let what = "it is longer than a message may be";
        incoming::id_of(beginning)
            .is_some_and(|id| self.resolve(id, Err(ClientError::Unreadable { what })))
    }

    fn resolve(&self, id: i64, outcome: Result<Value, ClientError>) -> bool {
        let mut open = self.open();
        open.reports.remove(&id);
        let answer = open.answers.remove(&id);
        drop(open);
        // Without one the request was taken back, and the server had not heard of that.
        answer.is_some_and(|answer| answer.send(outcome).is_ok())
    }

    fn noise(&self, text: &[u8]) -> Result<(), Cause> {
        let beginning = text.get(..text.len().min(512)).unwrap_or_default();
        let what = "it is not JSON";
        if let Some(id) = incoming::id_of(beginning) {
            self.resolve(id, Err(ClientError::Unreadable { what }));
        }
        let (lines, bytes) = {
            let mut open = self.open();
            open.noise_lines += 1;
            open.noise_bytes += text.len() as u64;
            (open.noise_lines, open.noise_bytes)
        };
        if bytes > FLOOD {
            return Err(Cause::Flood);
        }
        if lines <= NOISE_TOLD {
            let text = String::from_utf8_lossy(beginning);
            let excerpt: String = text.chars().take(EXCERPT).collect();
            // Nobody may be listening.
            let _listeners = self.events.send(ServerEvent::Noise(excerpt));
        }
        Ok(())
    }

    /// It is over: whoever waits for an answer learns that none will come.
    pub(crate) fn end(&self, cause: &Cause) {
        let mut open = self.open();
        self.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            ended.get_or_insert_with(|| cause.clone());
            first
        });
        open.reports.clear();
        let answers = std::mem::take(&mut open.answers);
        drop(open);
        for answer in answers.into_values() {
            // Who waited has gone.
            answer.send(Err(ClientError::Lost(cause.clone()))).ok();
        }
    }

    /// Nothing can be asked any more; answers that are on their way may still come.
    pub(crate) fn fade(&self, cause: Cause) {
        let _open = self.open();
        self.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            ended.get_or_insert(cause);
            first
        });
    }

    /// Resolves when it is over.
    pub(crate) async fn ended(&self) -> Cause {
        let mut ended = self.ended.subscribe();
        match ended.wait_for(Option::is_some).await {
            Ok(cause) => cause.clone().unwrap_or(Cause::Closed),
            Err(_) => Cause::Closed,
        }
    }

    /// What the server says from now on.
    pub(crate) fn events(&self) -> broadcast::Receiver<ServerEvent> {
        self.events.subscribe()
    }
}

//! A harness with one task, and a server for it.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _, stream};
use harness_model::{
    Answer, Approval, ApprovalId, CallContext, CallQuery, CallRecord, CallRequest, CallState,
    ErrorCode, Event, EventBody, Explanation, Front, HarnessStatus, Invocation, KeeperStatus,
    Outcome, OutputChunk, Page, PluginKind, PluginLog, PluginStatus, Refusal, Scope, Standing,
    Stream, TaskCounts, TaskQuery, TaskState, TaskStatus, Timestamp, Tool, ToolOutput, UnitId,
    UnitKind, UnitQuery, UnitSettings, UnitState, UnitStatus, Wake, WakeId,
};
use harnessd::front::{
    authority::{Authority, PeerCredentials},
    http::{
        ControlServer,
        backend::{Control, EventStream, OutputStream, PluginAction, Reply},
    },
};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
    sync::Notify,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// What was asked of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Call(String, Value, Option<u32>),
    Task(String, Duration),
    Tasks(TaskQuery),
    Output(Stream, u64, usize),
    Follow(u64),
    Events(Option<String>),
    Acknowledge(Vec<WakeId>),
}

#[derive(Default)]
pub(crate) struct FakeControl {
    pub(crate) asked: Mutex<Vec<Asked>>,
    /// What the next calls give.
    pub(crate) outcome: Mutex<Option<Outcome>>,
    /// Rung when a wait of more than a minute begins, and when it is dropped.
    pub(crate) waiting: Arc<Notify>,
    pub(crate) dropped: Arc<Notify>,
}

impl FakeControl {
    fn note(&self, asked: Asked) {
        self.asked.lock().unwrap().push(asked);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn next_outcome(&self, outcome: Outcome) {
        *self.outcome.lock().unwrap() = Some(outcome);
    }
}

fn ready<T: Send + 'static>(value: T) -> Reply<'static, T> {
    async { Ok(value) }.boxed()
}

struct Ring(Arc<Notify>);

impl Drop for Ring {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

pub(crate) fn task(id: &UnitId) -> TaskStatus {
    let stream = || json!({"tail": "", "path": "/x", "bytes": 0});
    let status = json!({
        "id": id, "cmd": "true", "status": "running", "exit_code": null, "signal": null, "result": "success",
        "active_state": "active", "sub_state": "running", "restarts": 0, "duration_secs": 0.5,
        "started_at": null, "stdout": stream(), "stderr": stream(),
    });
    serde_json::from_value(status).unwrap()
}

pub(crate) fn chunk(id: &UnitId, offset: u64, text: &str, eof: bool) -> OutputChunk {
    let end = offset + text.len() as u64;
    OutputChunk {
        id: id.clone(),
        stream: Stream::Stdout,
        offset,
        next_offset: end,
        bytes: end,
        text: text.to_owned(),
        gap: None,
        eof,
    }
}

impl Control for FakeControl {
    fn status(&self) -> Reply<'_, HarnessStatus> {
        ready(HarnessStatus {
            agent: "coder".into(),
            version: "0".into(),
            pid: 1,
            started_at: Timestamp::default(),
            state: "running".into(),
            workspace: "/".into(),
            state_directory: "/".into(),
            runtime_directory: "/".into(),
            config: Vec::new(),
            config_error: None,
            keeper: KeeperStatus::default(),
            tasks: TaskCounts::default(),
            wakes: 0,
            sessions: 0,
            tool_groups: vec!["bash".into()],
            mcp_servers: Vec::new(),
            enforcement: Vec::new(),
        })
    }

    fn call(
        &self,
        request: CallRequest,
        context: CallContext,
    ) -> futures_util::future::BoxFuture<'_, Outcome> {
        assert_eq!(context.front, Front::Http);
        if request.group.is_none() {
            assert_eq!(
                context.call.map(|id| id.to_string()),
                Some("abcdefabcdef".into())
            );
        } else {
            assert_eq!(request.group.as_deref(), Some("bash"));
        }
        self.note(Asked::Call(request.tool, request.input.into(), context.uid));
        let outcome = self.outcome.lock().unwrap().take();
        let started = || {
            Ok(ToolOutput::new(
                "task started: id=abc",
                json!({"id": "abc"}),
            ))
        };
        async move { outcome.unwrap_or_else(started) }.boxed()
    }

    fn tools(&self) -> Reply<'_, Vec<Tool>> {
        ready(vec![tool()])
    }

    fn tool(&self, name: String) -> Reply<'_, Tool> {
        if name != "run" && name != "bash__run" {
            return async { Err(Refusal::new(ErrorCode::UnknownCommand, "no such tool")) }.boxed();
        }
        ready(tool())
    }

    fn task(&self, id: UnitId, wait: Duration) -> Reply<'_, TaskStatus> {
        self.note(Asked::Task(id.to_string(), wait));
        if id.as_str() == "never-was" {
            return async { Err(Refusal::new(ErrorCode::UnknownCommand, "no task never-was")) }
                .boxed();
        }
        let (waiting, ring) = (Arc::clone(&self.waiting), Ring(Arc::clone(&self.dropped)));
        async move {
            if wait > Duration::from_mins(1) {
                waiting.notify_one();
                std::future::pending::<()>().await;
            }
            drop(ring);
            Ok(task(&id))
        }
        .boxed()
    }

    fn tasks(&self, query: TaskQuery) -> Reply<'_, Page<TaskStatus>> {
        self.note(Asked::Tasks(query));
        ready(Page {
            items: vec![task(&"abc".parse().unwrap())],
            next: Some(9),
        })
    }

    fn task_output(
        &self,
        id: UnitId,
        stream: Stream,
        offset: u64,
        limit: usize,
    ) -> Reply<'_, OutputChunk> {
        self.note(Asked::Output(stream, offset, limit));
        ready(chunk(&id, offset, "text", false))
    }

    fn task_follow(&self, id: UnitId, _: Stream, offset: u64) -> Reply<'_, OutputStream> {
        self.note(Asked::Follow(offset));
        let chunks = [
            Ok(chunk(&id, offset, "grün", false)),
            Ok(chunk(&id, offset + 5, "", true)),
        ];
        ready(stream::iter(chunks).boxed())
    }

    fn task_restart(&self, id: UnitId, _: CallContext) -> Reply<'_, TaskStatus> {
        ready(task(&id))
    }

    fn unit(&self, id: UnitId) -> Reply<'_, UnitStatus> {
        ready(UnitStatus {
            id,
            kind: UnitKind::McpServer,
            name: None,
            command: "serve".into(),
            cwd: "/".into(),
            created_at: Timestamp::default(),
            settings: UnitSettings::default(),
            state: UnitState::new(),
        })
    }

    fn units(&self, query: UnitQuery) -> Reply<'_, Page<UnitStatus>> {
        assert_eq!(
            (query.kind, query.limit),
            (Some(UnitKind::McpServer), Some(100))
        );
        ready(Page {
            items: Vec::new(),
            next: None,
        })
    }

    fn invocations(&self, _: UnitId, limit: u32) -> Reply<'_, Vec<Invocation>> {
        assert_eq!(limit, 1000, "clamped");
        ready(Vec::new())
    }

    fn wakes(&self, _: u32) -> Reply<'_, Vec<Wake>> {
        ready(vec![wake()])
    }

    fn wakes_recv(&self, wait: Duration) -> Reply<'_, Vec<Wake>> {
        assert_eq!(wait, Duration::from_millis(1500));
        ready(vec![wake()])
    }

    fn wakes_ack(&self, ids: Vec<WakeId>) -> Reply<'_, Vec<WakeId>> {
        self.note(Asked::Acknowledge(ids.clone()));
        ready(ids)
    }

    fn approvals(&self, _pending: bool, _limit: u32) -> Reply<'_, Vec<Approval>> {
        ready(Vec::new())
    }

    fn approval_answer(&self, id: ApprovalId, _answer: Answer, by: String) -> Reply<'_, Approval> {
        let message = format!("there is no approval {id} for {by}");
        async { Err(Refusal::new(ErrorCode::UnknownCommand, message)) }.boxed()
    }

    fn standing(&self) -> Reply<'_, Vec<Standing>> {
        ready(Vec::new())
    }

    fn standing_revoke(&self, _id: i64) -> Reply<'_, ()> {
        ready(())
    }

    fn explain(&self, _tool: String, _input: Map<String, Value>) -> Reply<'_, Explanation> {
        ready(Explanation {
            decision: "allow".into(),
            why: None,
            rules: Vec::new(),
            scope: Scope::Tool,
            hooks: Vec::new(),
            sandbox: None,
        })
    }

    fn calls(&self, query: CallQuery) -> Reply<'_, Page<CallRecord>> {
        assert_eq!(query.state, Some(CallState::OutcomeUnknown));
        ready(Page {
            items: Vec::new(),
            next: None,
        })
    }

    fn events(&self, last_event_id: Option<String>) -> EventStream {
        self.note(Asked::Events(last_event_id));
        let event = |seq| Event {
            seq,
            at: Timestamp::default(),
            body: EventBody::Wake(wake()),
        };
        let two = [1, 2].map(|seq| (format!("boot-{seq}"), Arc::new(event(seq))));
        stream::iter(two).chain(stream::pending()).boxed()
    }

    fn plugins(&self) -> Reply<'_, Vec<PluginStatus>> {
        async { Ok(vec![plugin("github")]) }.boxed()
    }

    fn plugin(&self, name: String) -> Reply<'_, PluginStatus> {
        async move { Ok(plugin(&name)) }.boxed()
    }

    fn plugin_act(&self, name: String, action: PluginAction) -> Reply<'_, PluginStatus> {
        async move {
            match action {
                PluginAction::Stop => Ok(plugin(&name)),
                PluginAction::Start | PluginAction::Restart => {
                    Err(Refusal::new(ErrorCode::Unavailable, "it is hopeless"))
                }
            }
        }
        .boxed()
    }

    fn plugin_log(&self, name: String, lines: u32) -> Reply<'_, PluginLog> {
        async move {
            Ok(PluginLog {
                text: format!("{name} {lines}\n"),
                path: "/log".into(),
            })
        }
        .boxed()
    }

    fn reload(&self) -> Reply<'_, ()> {
        async {
            Err(Refusal::new(
                ErrorCode::InvalidInput,
                "coder.toml:3:1: unknown key",
            ))
        }
        .boxed()
    }
}

fn tool() -> Tool {
    Tool {
        group: "bash".into(),
        name: "run".into(),
        title: None,
        description: "Run it.".into(),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations: harness_model::Annotations::default(),
        direct: true,
    }
}

pub(crate) fn wake() -> Wake {
    Wake {
        id: WakeId(7),
        from: "bash-task-abc".into(),
        unit: "abc".parse().unwrap(),
        name: None,
        status: TaskState::Done,
        exit_code: Some(0),
        body: "two\nlines".into(),
        created_at: Timestamp::default(),
        deliveries: 0,
    }
}

/// Everybody may, or nobody.
pub(crate) struct Fixed(pub(crate) bool);

impl Authority for Fixed {
    fn may(&self, _: &PeerCredentials) -> Result<(), Refusal> {
        if self.0 {
            Ok(())
        } else {
            Err(Refusal::new(ErrorCode::Denied, "not you"))
        }
    }
}

/// A server on a socket in a directory of its own.
pub(crate) struct Served {
    pub(crate) control: Arc<FakeControl>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) server: JoinHandle<()>,
    directory: tempfile::TempDir,
}

impl Served {
    pub(crate) fn start(admitted: bool) -> Self {
        Self::judged_by(Arc::new(Fixed(admitted)))
    }

    pub(crate) fn judged_by(authority: Arc<dyn Authority>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("control.sock")).unwrap();
        let control = Arc::new(FakeControl::default());
        let shutdown = CancellationToken::new();
        let server = ControlServer::new(Arc::clone(&control) as Arc<dyn Control>, shutdown.clone());
        let server = tokio::spawn(async move { server.serve_unix(listener, authority).await });
        Self {
            control,
            shutdown,
            server,
            directory,
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("control.sock")
    }

    /// A request on a connection of its own; the head and the body that came back.
    pub(crate) async fn ask(&self, request: &str, body: &[u8]) -> (String, String) {
        let mut stream = UnixStream::connect(self.socket()).await.unwrap();
        let head = format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server may have answered before it read all of it.
        stream.write_all(body).await.ok();
        answer(&mut stream).await
    }
}

/// All that comes, split into head and body.
pub(crate) async fn answer(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> (String, String) {
    let mut bytes = Vec::new();
    // A reset after the answer, because the rest of the body was not read, does not matter.
    stream.read_to_end(&mut bytes).await.ok();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// The message of an error body with this status and code.
pub(crate) fn refusal(answer: &(String, String), status: u16, code: &str) -> String {
    assert!(
        answer.0.starts_with(&format!("HTTP/1.1 {status} ")),
        "{answer:?}"
    );
    let body: Value = serde_json::from_str(&answer.1).unwrap();
    assert_eq!(body["error"]["code"], code, "{body}");
    assert!(body["error"]["retryable"].is_boolean());
    body["error"]["message"].as_str().unwrap().to_owned()
}

fn plugin(name: &str) -> PluginStatus {
    PluginStatus {
        name: name.to_owned(),
        kind: PluginKind::Stdio,
        active_state: harness_model::ActiveState::Active,
        on_demand: false,
        tools: 3,
        restarts: 0,
        unit: None,
        pid: None,
        active_since: None,
        protocol: None,
        program: None,
        last_error: None,
    }
}

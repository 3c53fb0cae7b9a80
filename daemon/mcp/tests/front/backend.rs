//! A backend that answers by itself and tells what it was asked. The example server and the tests
//! share it; the tools whose names begin with `test_` are those that the MCP conformance suite wants.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a fixture: nothing else holds its locks, its constants parse, and it is fed literals"
)]

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use futures_util::{FutureExt, future::BoxFuture};
use harness_mcp::{Backend, Exposed, Notice, TaskHandle, TaskStart, View};
use harness_model::{
    Annotations, CallContext, Content, ErrorCode, Outcome, Progress, Refusal, SessionId, TaskState,
    Timestamp, Tool, ToolOutput, Wake, WakeId,
};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, broadcast, mpsc};

/// What happened behind the front.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    Opened(SessionId, String),
    Closed(SessionId),
    Called(String, CallSeen),
    /// Somebody asked for the task, and got the answer or not.
    Told(String, bool),
    /// A call's future was dropped before it had ended.
    Dropped(String),
}

/// The part of a call's context that can be compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallSeen {
    pub(crate) front: harness_model::Front,
    pub(crate) session: SessionId,
    pub(crate) uid: Option<u32>,
    pub(crate) progress: bool,
}

pub(crate) struct Fake {
    seen: mpsc::UnboundedSender<Seen>,
    notices: broadcast::Sender<Notice>,
    tasks: Arc<Mutex<HashMap<String, TaskHandle>>>,
    /// Lets calls of `wait` end.
    pub(crate) release: Arc<Notify>,
    /// A tool more in every view.
    pub(crate) more: Arc<AtomicBool>,
    /// How often the tools were asked for.
    pub(crate) listed: AtomicUsize,
}

impl Fake {
    pub(crate) fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<Seen>) {
        let (seen, receiver) = mpsc::unbounded_channel();
        let fake = Self {
            seen,
            notices: broadcast::channel(64).0,
            tasks: Arc::default(),
            release: Arc::default(),
            more: Arc::default(),
            listed: AtomicUsize::new(0),
        };
        (Arc::new(fake), receiver)
    }

    fn reach(&self) -> Reach {
        Reach {
            release: Arc::clone(&self.release),
            notices: self.notices.clone(),
            more: Arc::clone(&self.more),
        }
    }

    pub(crate) fn notify(&self, notice: Notice) {
        drop(self.notices.send(notice));
    }

    /// Ends a task as `state`.
    pub(crate) fn end_task(&self, id: &str, state: TaskState, output: Option<ToolOutput>) {
        end(&self.tasks, id, state, output);
    }
}

fn end(
    tasks: &Mutex<HashMap<String, TaskHandle>>,
    id: &str,
    state: TaskState,
    output: Option<ToolOutput>,
) {
    if let Some(task) = tasks.lock().unwrap().get_mut(id)
        && matches!(task.state, TaskState::Running)
    {
        task.state = state;
        task.message = format!("{state}");
        task.output = output;
        task.updated_at = SystemTime::now().into();
    }
}

struct Guard(Option<(String, mpsc::UnboundedSender<Seen>)>);

impl Guard {
    fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some((name, seen)) = self.0.take() {
            drop(seen.send(Seen::Dropped(name)));
        }
    }
}

fn tool(name: &str, properties: Value, required: &[&str], output: Option<Value>) -> Exposed {
    Exposed {
        name: name.to_owned(),
        tool: Arc::new(Tool {
            group: "fake".into(),
            name: name.to_owned(),
            title: None,
            description: format!("The tool {name}."),
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            output_schema: output,
            annotations: Annotations {
                read_only_hint: Some(true),
                ..Annotations::default()
            },
            direct: true,
        }),
        original: None,
    }
}

fn all() -> Vec<Exposed> {
    let text = json!({"text": {"type": "string"}});
    let echoed = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let plain = [
        "wait",
        "steps",
        "flood",
        "panic",
        "fail",
        "deny",
        "big",
        "job",
        "short_job",
        "wake",
        "test_trigger_tool_change",
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
        "failing_job",
        "protocol_error_job",
    ];
    let mut tools = vec![tool("echo", text, &["text"], Some(echoed))];
    tools.extend(plain.map(|name| tool(name, json!({}), &[], None)));
    let seconds = json!({"seconds": {"type": "number"}, "label": {"type": "string"}});
    tools.push(tool("slow_compute", seconds, &[], None));
    tools.push(tool(
        "greet",
        json!({"name": {"type": "string"}}),
        &["name"],
        None,
    ));
    let headers = json!({"region": {"type": "string", "x-mcp-header": "Region"}});
    tools.push(tool("test_custom_headers", headers, &[], None));
    tools.push(json_schema_2020_12());
    tools
}

fn json_schema_2020_12() -> Exposed {
    let mut exposed = tool("json_schema_2020_12_tool", json!({}), &[], None);
    if let Some(tool) = Arc::get_mut(&mut exposed.tool) {
        tool.input_schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}, "contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        });
    }
    exposed
}

fn no_such_task(id: &str) -> Refusal {
    Refusal::new(
        ErrorCode::UnknownCommand,
        format!("there is no task {id:?}"),
    )
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "most tools answer with nothing else"
)]
fn answer(text: &str) -> Outcome {
    Ok(ToolOutput {
        content: vec![Content::Text { text: text.into() }],
        ..ToolOutput::default()
    })
}

fn contents(content: Vec<Value>) -> ToolOutput {
    ToolOutput {
        content: content.into_iter().map(Content::Other).collect(),
        ..ToolOutput::default()
    }
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

fn content(name: &str) -> Option<Outcome> {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    Some(match name {
        "test_simple_text" => answer("This is a simple text response for testing."),
        "test_image_content" => Ok(contents(vec![image])),
        "test_audio_content" => Ok(contents(vec![
            json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
        ])),
        "test_embedded_resource" => Ok(contents(vec![json!({"type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain",
            "text": "This is an embedded resource content."}})])),
        "test_multiple_content_types" => Ok(contents(vec![
            json!({"type": "text", "text": "Multiple content types test:"}),
            image,
            json!({"type": "resource", "resource": {"uri": "test://mixed-content-resource",
                "mimeType": "application/json", "text": "{\"test\":\"data\",\"value\":123}"}}),
        ])),
        "fail" | "test_error_handling" => Ok(ToolOutput {
            is_error: true,
            ..ToolOutput::new(
                "This tool intentionally returns an error for testing",
                json!({"exit": 1}),
            )
        }),
        "deny" => Err(Refusal::new(ErrorCode::Denied, "a person has said no")),
        "big" => answer(&"x".repeat(1024 * 1024)),
        "test_custom_headers" => answer("ok"),
        _ => return None,
    })
}

fn echo(input: &Map<String, Value>) -> Outcome {
    match input.get("text").and_then(Value::as_str) {
        Some(text) => Ok(ToolOutput::new(text, json!({"text": text}))),
        None => Err(Refusal::new(
            ErrorCode::InvalidInput,
            "text is missing; the signature is echo(text: string)",
        )),
    }
}

/// A wake as a task sends it.
pub(crate) fn wake() -> Wake {
    Wake {
        id: WakeId(7),
        from: "bash-task-abcd".into(),
        unit: "abcd".parse().unwrap(),
        name: None,
        status: TaskState::Done,
        exit_code: Some(0),
        body: "done".into(),
        created_at: Timestamp::from_micros(1),
        deliveries: 0,
    }
}

fn report(context: &CallContext, progress: f64) {
    if let Some(report) = &context.progress {
        report(Progress {
            progress,
            total: Some(100.0),
            message: Some(format!("at {progress}")),
        });
    }
}

/// What the tools can reach.
struct Reach {
    release: Arc<Notify>,
    notices: broadcast::Sender<Notice>,
    more: Arc<AtomicBool>,
}

impl Reach {
    async fn answer(
        self,
        name: String,
        input: Map<String, Value>,
        context: CallContext,
    ) -> Outcome {
        match name.as_str() {
            "echo" => echo(&input),
            "greet" => {
                let name = input.get("name").and_then(Value::as_str);
                answer(&format!("Hello, {}!", name.unwrap_or("?")))
            }
            "wait" => {
                self.release.notified().await;
                answer("released")
            }
            "steps" => {
                for step in [1.0, 2.0, 2.0, 1.5, f64::NAN, 3.0] {
                    report(&context, step);
                }
                answer("stepped")
            }
            "flood" => {
                for step in 0..100_000 {
                    report(&context, f64::from(step));
                }
                answer("flooded")
            }
            "test_tool_with_progress" => {
                for step in [0.0, 50.0, 100.0] {
                    report(&context, step);
                    tokio::task::yield_now().await;
                }
                answer("done")
            }
            "wake" => {
                drop(self.notices.send(Notice::Wakes(vec![wake()])));
                answer("sent")
            }
            "test_trigger_tool_change" => {
                self.more.fetch_not(Ordering::SeqCst);
                drop(self.notices.send(Notice::ToolsChanged));
                answer("changed")
            }
            "panic" => panic!("as asked"),
            other => content(other).unwrap_or_else(|| {
                let message = format!("there is no tool {other:?}");
                Err(Refusal::new(ErrorCode::UnknownCommand, message))
            }),
        }
    }
}

impl Backend for Fake {
    fn tools(&self, view: &View) -> Result<Vec<Exposed>, Refusal> {
        self.listed.fetch_add(1, Ordering::SeqCst);
        let mut tools = match view {
            View::All => all(),
            View::Group(name) if name == "bash" => all().drain(..1).collect(),
            View::Server(name) if name == "github" => all().drain(1..2).collect(),
            View::Group(name) if name == "many" => (0..450)
                .map(|number| tool(&format!("tool{number:03}"), json!({}), &[], None))
                .collect(),
            View::Group(name) | View::Server(name) => {
                let message = format!("there is no tool group {name:?}; there is bash");
                return Err(Refusal::new(ErrorCode::UnknownCommand, message));
            }
        };
        if self.more.load(Ordering::SeqCst) {
            tools.push(tool("more", json!({}), &[], None));
        }
        Ok(tools)
    }

    fn instructions(&self, view: &View) -> Option<String> {
        (*view == View::All).then(|| "Use echo.".to_owned())
    }

    fn ready(&self, _view: &View) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn server_info(&self, _view: &View) -> Option<Value> {
        None
    }

    fn server_name(&self, view: &View) -> String {
        match view {
            View::All => "harness".into(),
            View::Group(name) | View::Server(name) => name.clone(),
        }
    }

    fn call(
        &self,
        _view: &View,
        name: &str,
        input: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let name = name.to_owned();
        let called = CallSeen {
            front: context.front,
            session: context.session.clone(),
            uid: context.uid,
            progress: context.progress.is_some(),
        };
        drop(self.seen.send(Seen::Called(name.clone(), called)));
        let mut guard = Guard(Some((name.clone(), self.seen.clone())));
        let called = self.reach().answer(name, input, context);
        async move {
            let outcome = called.await;
            guard.disarm();
            outcome
        }
        .boxed()
    }

    fn task_of(&self, _view: &View, name: &str, _input: &Map<String, Value>) -> bool {
        matches!(
            name,
            "job" | "short_job" | "slow_compute" | "failing_job" | "protocol_error_job"
        )
    }

    fn task_start(
        &self,
        _view: &View,
        name: &str,
        input: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Result<TaskStart, Refusal>> {
        if name == "short_job" {
            return async { answer("computed").map(TaskStart::Ended) }.boxed();
        }
        let id = context.session.to_string() + &self.tasks.lock().unwrap().len().to_string();
        let now = Timestamp::from(SystemTime::now());
        let handle = TaskHandle {
            id: id.clone(),
            state: TaskState::Running,
            message: "it runs".into(),
            created_at: now,
            updated_at: now,
            output: None,
        };
        self.tasks
            .lock()
            .unwrap()
            .insert(id.clone(), handle.clone());
        let (tasks, name) = (Arc::clone(&self.tasks), name.to_owned());
        if name != "job" {
            tokio::spawn(async move {
                let seconds = input.get("seconds").and_then(Value::as_f64).unwrap_or(1.0);
                tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
                match name.as_str() {
                    "failing_job" => end(
                        &tasks,
                        &id,
                        TaskState::Done,
                        content("fail").and_then(Result::ok),
                    ),
                    "protocol_error_job" => end(&tasks, &id, TaskState::Interrupted, None),
                    _ => end(&tasks, &id, TaskState::Done, answer("computed").ok()),
                }
            });
        }
        async move { Ok(TaskStart::Started(handle)) }.boxed()
    }

    fn task_get(
        &self,
        id: &str,
        context: CallContext,
    ) -> BoxFuture<'static, Result<TaskHandle, Refusal>> {
        let (seen, told) = (self.seen.clone(), id.to_owned());
        context
            .delivery
            .on_settled(move |delivered| drop(seen.send(Seen::Told(told, delivered))));
        let task = self.tasks.lock().unwrap().get(id).cloned();
        let absent = no_such_task(id);
        async move { task.ok_or(absent) }.boxed()
    }

    fn task_cancel(
        &self,
        id: &str,
        _context: CallContext,
    ) -> BoxFuture<'static, Result<(), Refusal>> {
        self.end_task(id, TaskState::Stopped, None);
        let known = self.tasks.lock().unwrap().contains_key(id);
        let absent = no_such_task(id);
        async move { known.then_some(()).ok_or(absent) }.boxed()
    }

    fn session_opened(&self, session: &SessionId, client: &str) {
        drop(
            self.seen
                .send(Seen::Opened(session.clone(), client.to_owned())),
        );
    }

    fn session_closed(&self, session: &SessionId) {
        drop(self.seen.send(Seen::Closed(session.clone())));
    }

    fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }
}

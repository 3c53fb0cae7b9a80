//! A server that says what a test wants it to say, odd things included.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by test binaries, each of which uses a part of it"
)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use serde_json::{Value, json};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// Such as `GET /v1/status`.
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A control socket in a directory of its own.
pub struct FakeHarness {
    pub directory: tempfile::TempDir,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl FakeHarness {
    /// Answers each request, one per connection, in a thread of its own.
    pub fn start(answer: impl Fn(&Request, &mut UnixStream) + Send + Sync + 'static) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = UnixListener::bind(directory.path().join("control.sock")).unwrap();
        let (answer, record) = (Arc::new(answer), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, record) = (Arc::clone(&answer), Arc::clone(&record));
                let mut stream = stream.unwrap();
                thread::spawn(move || {
                    if let Some(request) = read(&mut stream) {
                        record.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Self { directory, seen }
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("control.sock")
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    pub fn lines(&self) -> Vec<String> {
        self.requests()
            .into_iter()
            .map(|request| request.line)
            .collect()
    }
}

fn read(stream: &mut UnixStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        lines.push(line.to_owned());
    }
    let first = lines.remove(0);
    let headers: Vec<(String, String)> = lines
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let line = first.strip_suffix(" HTTP/1.1").unwrap().to_owned();
    Some(Request {
        line,
        headers,
        body: String::from_utf8(body).unwrap(),
    })
}

/// A whole answer.
pub fn reply(stream: &mut UnixStream, status: u16, body: &Value) {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    // The client may have gone.
    stream.write_all(format!("{head}{body}").as_bytes()).ok();
}

/// An error body.
pub fn refuse(stream: &mut UnixStream, status: u16, code: &str, message: &str) {
    reply(
        stream,
        status,
        &json!({"error": {"code": code, "message": message, "retryable": false}}),
    );
}

/// The head of an event stream and these frames; it ends when the connection does.
pub fn events(stream: &mut UnixStream, frames: &str) {
    let head =
        "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: open\n\n";
    stream.write_all(format!("{head}{frames}").as_bytes()).ok();
}

/// A gate that a test opens.
pub fn gate() -> (mpsc::Sender<()>, Mutex<mpsc::Receiver<()>>) {
    let (sender, receiver) = mpsc::channel();
    (sender, Mutex::new(receiver))
}

/// A task's status in the given state.
pub fn task(id: &str, status: &str, exit_code: Option<u8>) -> Value {
    let running = status == "running" || status == "pending";
    let stream = |tail: &str, name: &str| json!({"tail": tail, "path": format!("/state/{id}.{name}"), "bytes": tail.len()});
    json!({
        "id": id,
        "cmd": "echo hello",
        "status": status,
        "exit_code": exit_code,
        "signal": null,
        "result": if status == "timed_out" { "timeout" } else { "success" },
        "active_state": if running { "active" } else { "inactive" },
        "sub_state": if running { "running" } else { "dead" },
        "restarts": 0,
        "duration_secs": 1.5,
        "started_at": "2026-01-02T03:04:05.000Z",
        "stdout": stream("hello\n", "out"),
        "stderr": stream("", "err"),
    })
}

/// A frame of `output --follow`.
pub fn output_frame(id: &str, offset: u64, text: &str, eof: bool) -> String {
    let next = offset + text.len() as u64;
    let chunk = json!({
        "id": id, "stream": "stdout", "offset": offset, "next_offset": next,
        "bytes": next, "text": text, "eof": eof,
    });
    format!("id: {next}\nevent: output\ndata: {chunk}\n\n")
}

/// The status of a harness.
pub fn status() -> Value {
    json!({
        "agent": "coder", "version": "0.1.0", "pid": 42, "started_at": "2026-01-02T03:04:05.000Z",
        "state": "running", "workspace": "/srv/coder", "state_directory": "/var/lib/harnessd/coder",
        "runtime_directory": "/run/harnessd/coder", "config": ["/etc/harnessd/coder.toml"],
        "config_error": null,
        "keeper": {"connected": true, "pid": 43, "version": "0.1.0", "protocol": 1},
        "tasks": {"running": 3, "inactive": 10, "failed": 1},
        "wakes": 2, "sessions": 1, "tool_groups": ["bash", "wakes"], "mcp_servers": ["git hub"],
        "enforcement": [
            {"name": "cgroup", "enforced": false, "detail": "no delegated cgroup"},
            {"name": "signal_scope", "enforced": true, "detail": "Landlock ABI 7"},
        ],
    })
}

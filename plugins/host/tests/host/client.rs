//! A host with a plugin in it, and its client.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::plugins;

/// The longest any step may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running host.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    log: mpsc::Receiver<String>,
    next: i64,
    /// What came that was no answer.
    pub(crate) notifications: Vec<Value>,
}

/// How a host has ended.
#[derive(Debug)]
pub(crate) struct End {
    /// Its exit code, or 128 and the signal.
    pub(crate) code: i32,
    /// What it said on standard error.
    pub(crate) log: String,
}

/// The host on a plugin, with one thing for the saboteur to do.
pub(crate) fn host(library: &str, sabotage: &str) -> Command {
    on(&plugins::path(library), sabotage)
}

/// The host on any file.
pub(crate) fn on(library: &Path, sabotage: &str) -> Command {
    let mut command = plugins::command(env!("CARGO_BIN_EXE_harness-plugin-host"));
    command
        .arg(library)
        .env("SABOTAGE", sabotage)
        .env_remove("HARNESS_PLUGIN_SETTINGS");
    command
}

impl Client {
    /// Starts it, and says nothing yet.
    pub(crate) fn start(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                sender.send(line).unwrap_or_default();
            }
        });
        let (sender, log) = mpsc::channel();
        let mut errors = child.stderr.take().unwrap();
        thread::spawn(move || {
            let mut text = Vec::new();
            errors.read_to_end(&mut text).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            sender.send(text).unwrap_or_default();
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            log,
            next: 0,
            notifications: Vec::new(),
        }
    }

    /// Starts it and begins a session.
    #[track_caller]
    pub(crate) fn open(command: Command) -> Self {
        let mut client = Self::start(command);
        let parameters = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"},
        });
        let reply = client.request("initialize", &parameters);
        assert_eq!(reply["result"]["protocolVersion"], "2025-11-25", "{reply}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    #[track_caller]
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are; a host that has ended does not mind.
    #[track_caller]
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        drop(self.input.as_ref().unwrap().write_all(bytes));
    }

    /// The next message; `None` when the host has closed its side.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}")),
            ),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("nothing came in {PATIENCE:?}"),
        }
    }

    /// Sends a request without waiting; gives its id.
    pub(crate) fn begin(&mut self, method: &str, parameters: &Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        id
    }

    /// The reply to a request; `None` when the host dies first.
    #[track_caller]
    pub(crate) fn reply(&mut self, id: i64) -> Option<Value> {
        loop {
            let message = self.receive()?;
            if message["id"] == id && message.get("method").is_none() {
                return Some(message);
            }
            self.notifications.push(message);
        }
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.begin(method, parameters);
        let reply = self.reply(id);
        reply.unwrap_or_else(|| panic!("{method}: the host closed: {:?}", self.log.recv()))
    }

    /// Calls a tool and gives its result, which may be an error of the tool.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, input: &Value) -> Value {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": input}));
        let result = reply.get("result").cloned();
        result.unwrap_or_else(|| panic!("{tool}: {reply}"))
    }

    /// Closes the client's side.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Closes the client's side and waits for the end.
    #[track_caller]
    pub(crate) fn end(mut self) -> End {
        self.close();
        self.ended()
    }

    /// Waits for the end, which has to come by itself.
    #[track_caller]
    pub(crate) fn ended(mut self) -> End {
        use std::os::unix::process::ExitStatusExt as _;
        let log = self.log.recv_timeout(PATIENCE);
        let log = log.unwrap_or_else(|_| panic!("the host still runs after {PATIENCE:?}"));
        let status = self.child.wait().unwrap();
        let signal = || 128 + status.signal().unwrap_or_default();
        End {
            code: status.code().unwrap_or_else(signal),
            log,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

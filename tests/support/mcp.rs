//! A small MCP client on a Unix socket, by hand, so that what is on the wire can be looked at.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use serde_json::{Value, json};

use crate::harness::PATIENCE;

/// One initialized session.
pub struct Session {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    next: i64,
    /// Notifications that came while something else was awaited.
    pub notifications: Vec<Value>,
}

impl Session {
    /// Connects, narrows the view to a group, and initializes with the 2025-11-25 protocol.
    #[track_caller]
    pub fn open(socket: &Path, group: Option<&str>) -> Self {
        Self::open_declaring(socket, group, &json!({}))
    }

    /// The same with capabilities of the client's.
    #[track_caller]
    pub fn open_declaring(socket: &Path, group: Option<&str>, capabilities: &Value) -> Self {
        let mut session = Self::connect(socket);
        if let Some(group) = group {
            session.send(&json!({"harness": {"group": group}}));
        }
        session.initialize_declaring(capabilities);
        session
    }

    /// Begins a session with the 2025-11-25 protocol; gives the result of `initialize`.
    #[track_caller]
    pub fn initialize(&mut self) -> Value {
        self.initialize_declaring(&json!({}))
    }

    fn initialize_declaring(&mut self, capabilities: &Value) -> Value {
        let client = json!({"name": "test", "version": "0"});
        let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
        let reply = self.request("initialize", &parameters);
        assert!(reply["result"]["protocolVersion"].is_string(), "{reply}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        reply["result"].clone()
    }

    /// The same with the view narrowed to an MCP server.
    #[track_caller]
    pub fn of_server(socket: &Path, server: &str) -> Self {
        let mut session = Self::connect(socket);
        session.send(&json!({"harness": {"server": server}}));
        session.initialize();
        session
    }

    /// Connects and says nothing.
    #[track_caller]
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket)
            .unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            reader: BufReader::new(stream.try_clone().unwrap()),
            writer: stream,
            next: 0,
            notifications: Vec::new(),
        }
    }

    /// Sends one line.
    #[track_caller]
    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn send_raw(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).unwrap();
    }

    /// The next message, or `None` when the other side has closed.
    #[track_caller]
    pub fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.reader.read_line(&mut line).unwrap();
        (length > 0).then(|| {
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
        })
    }

    /// Sends a request without waiting; gives its id.
    #[track_caller]
    pub fn begin(&mut self, method: &str, parameters: &Value) -> i64 {
        self.next += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters}),
        );
        self.next
    }

    /// The reply to a request; notifications before it are kept.
    #[track_caller]
    pub fn reply(&mut self, id: i64) -> Value {
        loop {
            let message = self.receive().expect("the server closed the connection");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// A request and its reply.
    #[track_caller]
    pub fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.begin(method, parameters);
        self.reply(id)
    }

    /// Answers a request of the server's.
    #[track_caller]
    pub fn answer(&mut self, request: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Calls a tool and gives the result, which may be an error of the tool.
    #[track_caller]
    pub fn call(&mut self, tool: &str, input: &Value) -> Value {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": input}));
        reply
            .get("result")
            .unwrap_or_else(|| panic!("{tool}: {reply}"))
            .clone()
    }

    /// Calls a tool that has to succeed; gives its structured result.
    #[track_caller]
    pub fn ok(&mut self, tool: &str, input: &Value) -> Value {
        let result = self.call(tool, input);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The next notification or request of that method.
    #[track_caller]
    pub fn notification(&mut self, method: &str) -> Value {
        if let Some(place) = self
            .notifications
            .iter()
            .position(|message| message["method"] == method)
        {
            return self.notifications.remove(place);
        }
        loop {
            let message = self.receive().expect("the server closed the connection");
            if message["method"] == method {
                return message;
            }
            self.notifications.push(message);
        }
    }
}

/// The text of a tool's result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or("")
}

//! The methods of MCP.

use std::{sync::Arc, thread, time::Duration};

use serde_json::{Map, Value, json};

use crate::{
    calls::Calls,
    lines::{Line, Lines},
    log,
    message::{self, Fault, Incoming, NO_METHOD, PARAMETERS, Request, SESSION_VERSIONS},
    plugin::Plugin,
    streams::Streams,
    writer::Writer,
};

/// How long calls may run on after the client has closed its side.
const DRAIN: Duration = Duration::from_secs(5);

/// How long the plugin may take to notice that its calls were taken back, and then to shut down.
const GRACE: Duration = Duration::from_secs(1);

pub(crate) struct Server {
    pub(crate) plugin: Box<Plugin>,
    pub(crate) calls: Calls,
    pub(crate) writer: Arc<Writer>,
}

/// Serves the client until it closes its side, and then ends the plugin.
pub(crate) fn serve(plugin: Box<Plugin>, streams: Streams) {
    let server = Arc::new(Server {
        plugin,
        calls: Calls::default(),
        writer: Arc::new(Writer::new(streams.output)),
    });
    let mut lines = Lines::new(streams.input);
    loop {
        match lines.next() {
            Ok(Line::Text(line)) => server.take(&line),
            Ok(Line::TooLong) => server.answer(&Value::Null, Err(Fault::too_long())),
            Ok(Line::End) => break,
            Err(error) => {
                log(&format!("cannot read from the client: {error}"));
                break;
            }
        }
    }
    server.end();
}

impl Server {
    fn take(self: &Arc<Self>, line: &[u8]) {
        match message::read(line) {
            Ok(Incoming::Request(request)) => self.request(request),
            Ok(Incoming::Notification { method, params }) => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId")
                {
                    self.calls.cancel(id);
                }
            }
            Ok(Incoming::Answer) => {}
            Err((id, fault)) => self.answer(&id, Err(fault)),
        }
    }

    fn request(self: &Arc<Self>, request: Request) {
        let result = match request.method.as_str() {
            "tools/call" => return self.call(request),
            "tools/list" => self.list(&request),
            "initialize" if !request.stateless => Ok(self.initialize(&request.params)),
            "ping" if !request.stateless => Ok(json!({})),
            "server/discover" => Ok(self.discover()),
            other => Err(Fault::new(
                NO_METHOD,
                format!("there is no method {other:?}"),
            )),
        };
        let result = result.map(|result| whole(result, request.stateless));
        self.answer(&request.id, result);
    }

    pub(crate) fn answer(&self, id: &Value, result: Result<Value, Fault>) {
        self.writer.send(&message::answer(id, result));
    }

    fn initialize(&self, params: &Map<String, Value>) -> Value {
        let [.., newest] = SESSION_VERSIONS;
        let version = SESSION_VERSIONS
            .into_iter()
            .find(|known| {
                params
                    .get("protocolVersion")
                    .is_some_and(|asked| asked == known)
            })
            .unwrap_or(newest);
        self.instruct(json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": self.info(),
        }))
    }

    fn discover(&self) -> Value {
        self.instruct(json!({
            "supportedVersions": message::versions(),
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": self.info()},
        }))
    }

    fn info(&self) -> Value {
        let description = &self.plugin.description;
        json!({"name": description.name, "version": description.version})
    }

    fn instruct(&self, mut result: Value) -> Value {
        if let Some(instructions) = &self.plugin.description.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }

    /// All tools on one page: they are in memory, and many clients do not follow pages.
    fn list(&self, request: &Request) -> Result<Value, Fault> {
        if request
            .params
            .get("cursor")
            .is_some_and(|cursor| !cursor.is_null())
        {
            let message = "there is one page, and no cursor leads to another";
            return Err(Fault::new(PARAMETERS, message));
        }
        let mut result = json!({"tools": self.plugin.tools.listed});
        if request.stateless {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        Ok(result)
    }

    /// The client has closed its side: calls end by themselves, or are told to, or are left behind.
    fn end(self: Arc<Self>) {
        let mut idle = self.calls.wait(DRAIN);
        if !idle {
            self.calls.cancel_all();
            idle = self.calls.wait(GRACE);
        }
        if !idle {
            log("calls still run; the plugin is ended without being asked");
            return;
        }
        let (sender, ended) = std::sync::mpsc::channel();
        let spawned = thread::Builder::new()
            .name("shutdown".to_owned())
            .spawn(move || {
                self.plugin.state.shutdown();
                // Who waits for it may have given up.
                sender.send(()).unwrap_or_default();
            });
        if spawned.is_ok() && ended.recv_timeout(GRACE).is_err() {
            log("the plugin's shutdown takes too long; it is ended");
        }
    }
}

/// The protocol without sessions wants each result to say that it is one.
pub(crate) fn whole(mut result: Value, stateless: bool) -> Value {
    if stateless {
        result["resultType"] = json!("complete");
    }
    result
}

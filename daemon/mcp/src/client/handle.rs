//! A connection to one server, as the rest of the daemon holds it.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value, json};
use tokio::{sync::broadcast, task::AbortHandle};

use super::{
    connect::{ConnectError, Greeter, Hello, RESERVED_META, add_meta},
    error::{Cause, ClientError},
    exchange::{Exchange, ServerEvent},
    http::{Http, HttpTarget},
    pages,
    pipes::Pipes,
    request::{Report, Request},
    wire::Wire,
};

/// The wait before a stream of notifications is opened again.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

/// A connection to one server. Dropped, it ends.
pub struct Client {
    talk: Arc<Talk>,
    hello: Hello,
    listening: Option<AbortHandle>,
}

/// A call of one tool.
pub struct ToolCall {
    /// Its name with the server.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What its caller put into `_meta`.
    pub meta: Option<Map<String, Value>>,
    /// Where its progress goes, if that is wanted.
    pub report: Option<Report>,
}

struct Talk {
    wire: Box<dyn Wire>,
    exchange: Arc<Exchange>,
    next: AtomicI64,
}

impl Talk {
    fn id(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

impl Client {
    /// Greets a program over its pipes: the writing end of its standard input and the reading end of its
    /// standard output. Takes as long as the program does.
    pub async fn over_pipes(stdin: OwnedFd, stdout: OwnedFd) -> Result<Self, ConnectError> {
        let exchange = Arc::new(Exchange::new());
        let pipes = Pipes::new(stdin, stdout, Arc::clone(&exchange));
        let pipes = pipes.map_err(|error| ConnectError::Pipes(Arc::new(error)))?;
        let talk = Talk::new(Box::new(pipes), exchange);
        let hello = talk.greeter(&|| talk.id()).initialize_first().await;
        Self::greeted(talk, hello)
    }

    /// Greets a server at an address. Takes as long as the server does, but at most 10 s to connect.
    pub async fn over_http(target: HttpTarget) -> Result<Self, ConnectError> {
        let exchange = Arc::new(Exchange::new());
        let http = Http::new(target, Arc::clone(&exchange))?;
        let talk = Talk::new(Box::new(http), exchange);
        let hello = talk.greeter(&|| talk.id()).discover_first().await;
        Self::greeted(talk, hello)
    }

    fn greeted(talk: Talk, hello: Result<Hello, ConnectError>) -> Result<Self, ConnectError> {
        let hello = hello.inspect_err(|_| talk.wire.close())?;
        let talk = Arc::new(talk);
        let listening = hello.stateless.then(|| {
            let listening = tokio::spawn(listen(Arc::clone(&talk)));
            listening.abort_handle()
        });
        Ok(Self {
            talk,
            hello,
            listening,
        })
    }

    /// What the server said of itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Whether the server offers this, by a path into its capabilities such as `/tools`.
    #[must_use]
    pub fn offers(&self, pointer: &str) -> bool {
        let capability = self.hello.capabilities.pointer(pointer);
        capability.is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
    }

    /// Its tools as it lists them, and what was wrong with its pages, if something was.
    pub async fn tools(&self) -> Result<(Vec<Value>, Option<&'static str>), ClientError> {
        if !self.offers("/tools") {
            return Ok((Vec::new(), None));
        }
        pages::all(self, "tools/list", "tools").await
    }

    /// Calls a tool; its result as it came. Dropping the future takes the call back.
    pub async fn call_tool(&self, call: ToolCall) -> Result<Value, ClientError> {
        let mut params = Map::new();
        params.insert("name".to_owned(), call.name.into());
        params.insert("arguments".to_owned(), Value::Object(call.arguments));
        if let Some(meta) = call.meta {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        self.ask("tools/call", params, call.report).await
    }

    /// Any other request; its result as it came. Dropping the future takes it back.
    pub async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Value, ClientError> {
        self.ask(method, params, None).await
    }

    async fn ask(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        report: Option<Report>,
    ) -> Result<Value, ClientError> {
        let id = self.talk.id();
        if let Some(Value::Object(meta)) = params.get_mut("_meta") {
            meta.retain(|key, _| key != "progressToken" && !key.starts_with(RESERVED_META));
            if meta.is_empty() {
                params.remove("_meta");
            }
        }
        if report.is_some() {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Value::Object(meta) = meta {
                meta.insert("progressToken".to_owned(), id.into());
            }
        }
        if self.hello.stateless {
            add_meta(&mut params);
        }
        let request = Request {
            id,
            method: method.to_owned(),
            params,
            report,
        };
        self.talk.wire.request(request).await
    }

    /// Whether the server still answers; resolves when it does.
    pub async fn ping(&self) -> Result<(), ClientError> {
        let method = if self.hello.stateless {
            "server/discover"
        } else {
            "ping"
        };
        match self.request(method, Map::new()).await {
            // It knows no ping, but it is there.
            Ok(_) | Err(ClientError::Answered(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What it says of its own accord from now on. A listener that lags misses some, and learns that.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<ServerEvent> {
        self.talk.exchange.events()
    }

    /// Resolves when nothing can be asked any more.
    pub async fn ended(&self) -> Cause {
        self.talk.exchange.ended().await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
        self.talk.wire.close();
    }
}

impl Talk {
    fn new(wire: Box<dyn Wire>, exchange: Arc<Exchange>) -> Self {
        Self {
            wire,
            exchange,
            next: AtomicI64::new(1),
        }
    }

    fn greeter<'a>(&'a self, next: &'a (dyn Fn() -> i64 + Sync)) -> Greeter<'a> {
        Greeter {
            wire: self.wire.as_ref(),
            exchange: &self.exchange,
            next,
        }
    }
}

/// Without a session, changes are told to those who listen.
async fn listen(talk: Arc<Talk>) {
    loop {
        let wanted = json!({
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
        });
        let mut params = Map::new();
        params.insert("notifications".to_owned(), wanted);
        add_meta(&mut params);
        let request = Request {
            id: talk.id(),
            method: "subscriptions/listen".to_owned(),
            params,
            report: None,
        };
        match talk.wire.request(request).await {
            // It cannot be listened to.
            Err(
                ClientError::Answered(_)
                | ClientError::NotSent(_)
                | ClientError::Unauthorized { .. },
            ) => return,
            Ok(_) | Err(ClientError::Lost(_) | ClientError::Unreadable { .. }) => {}
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

//! The MCP servers of the configuration: who they are, and who is told what happens to them.
//!
//! `daemon/execute/mcp` runs each of them; here they are made from the configuration, replaced when it changes, and put
//! into the catalogue as their tools come and go.

mod connection;
mod credentials;
mod made;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::{BoxFuture, join_all};
use harness_authorize::command::is_same_name;
use harness_execute::{
    ToolGroup,
    mcp::{McpServer, ServerWatcher},
};
use harness_mcp::{Notice, View};
use harness_model::{CallRequest, EventBody, PluginStatus, Refusal};
use harness_publish::Bus;
use harness_supervise::{Engine, UnitHandle};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

pub(crate) use self::credentials::ServerCredentials;
use self::made::Made;
use crate::{
    catalogue::{Catalogue, Entry},
    config::{Places, hint},
    harness::{Harness, InForce},
    redact::Redactor,
};

/// The first listing of the whole catalogue waits so long, from the start of a server, for servers that are on their
/// way. Those that take longer follow with `list_changed`.
const FIRST_LISTING: Duration = Duration::from_secs(3);

/// How long servers may take to end with the daemon. What is left is ended by the next daemon's start.
const FAREWELL: Duration = Duration::from_secs(5);

/// What stands between a server's name and a tool's.
const SEPARATOR: &str = "__";

struct Running {
    server: McpServer,
    made: Made,
    since: tokio::time::Instant,
}

/// All MCP servers of one harness.
pub(crate) struct Servers {
    beside: Surroundings,
    running: Mutex<BTreeMap<String, Running>>,
}

/// What the room needs from beside it.
pub(crate) struct Surroundings {
    pub(crate) places: Places,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) credentials: Arc<ServerCredentials>,
    pub(crate) bus: Bus,
    pub(crate) redactor: Redactor,
    pub(crate) notices: broadcast::Sender<Notice>,
    pub(crate) engine: Engine,
}

impl Servers {
    pub(crate) fn new(beside: Surroundings) -> Arc<Self> {
        Arc::new(Self {
            beside,
            running: Mutex::default(),
        })
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the servers of a configuration in the place of those that run, touching only what changed. A process that is
    /// replaced is gone before the next one starts. `left` are units of a former daemon, which are being stopped.
    pub(crate) fn configure(self: &Arc<Self>, in_force: &InForce, left: Vec<UnitHandle>) {
        let mut left = by_server(left);
        let mut running = self.running();
        let config = &in_force.loaded.config.mcp;
        let gone = running.extract_if(.., |name, _| !config.contains_key(name));
        for (name, gone) in gone {
            self.beside.catalogue.remove_server(&name);
            self.beside.credentials.forget(&name);
            tokio::spawn(async move { gone.server.end().await });
        }
        for (name, server) in config {
            let made = Made::of(name, server, in_force, &self.beside.places);
            let old = running.remove(name);
            let before: BoxFuture<'static, ()> = match old {
                Some(old) if old.made == made => {
                    running.insert(name.clone(), old);
                    continue;
                }
                Some(old) => Box::pin(async move { old.server.end().await }),
                None => ended(left.remove(name).unwrap_or_default()),
            };
            self.beside.credentials.set(name, made.variables());
            let server = made.begin(self.beside.engine.clone(), Arc::clone(self) as _, before);
            self.beside
                .catalogue
                .put_server(&(Arc::new(server.clone()) as _));
            let since = tokio::time::Instant::now();
            let entry = Running {
                server,
                made,
                since,
            };
            running.insert(name.clone(), entry);
        }
    }

    /// The server of this name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn get(&self, name: &str) -> Result<McpServer, Refusal> {
        let running = self.running();
        let found = running.get(name).map(|running| running.server.clone());
        found.ok_or_else(|| {
            let known = running.keys().map(String::as_str);
            let message = format!("there is no MCP server {name:?}{}", hint(name, known));
            Refusal::new(harness_model::ErrorCode::UnknownCommand, message)
        })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.running().keys().cloned().collect()
    }

    pub(crate) fn status(&self) -> Vec<PluginStatus> {
        let running = self.running();
        running.values().map(|one| one.server.status()).collect()
    }

    /// The server that a request names, if it names one.
    fn named(&self, request: &CallRequest) -> Option<McpServer> {
        let prefix = request.tool.split_once(SEPARATOR).map(|(name, _)| name);
        let name = request.group.as_deref().or(prefix)?;
        self.get(name).ok()
    }

    /// Has the server started whose name a command begins with, if it waits for that.
    pub(crate) async fn load_like(&self, word: &str) {
        let server = {
            let running = self.running();
            let mut named = running.iter().filter(|(name, _)| is_same_name(name, word));
            let server = named.next().map(|(_, one)| one.server.clone());
            server.filter(|server| server.status().tools == 0)
        };
        if let Some(server) = server {
            server.loaded().await;
        }
    }

    /// Resolves when the first listing of a view is worth showing.
    pub(crate) fn ready(&self, view: &View) -> BoxFuture<'static, ()> {
        match view {
            View::Group(name) | View::Server(name) => match self.get(name) {
                Ok(server) => Box::pin(async move { server.loaded().await }),
                Err(_) => Box::pin(std::future::ready(())),
            },
            View::All => {
                let running = self.running();
                let waits: Vec<_> = running
                    .values()
                    .filter(|one| one.server.is_on_its_way())
                    .map(|one| (one.server.clone(), one.since + FIRST_LISTING))
                    .collect();
                Box::pin(async move {
                    let arrivals = waits.into_iter().map(|(server, limit)| async move {
                        // One that takes longer follows.
                        drop(tokio::time::timeout_at(limit, server.arrived()).await);
                    });
                    join_all(arrivals).await;
                })
            }
        }
    }

    /// Ends all of them, as far as that goes in a few seconds.
    pub(crate) async fn farewell(&self) {
        let servers: Vec<McpServer> = {
            let running = self.running();
            running.values().map(|one| one.server.clone()).collect()
        };
        let all = join_all(servers.iter().map(McpServer::end));
        if tokio::time::timeout(FAREWELL, all).await.is_err() {
            tracing::warn!("some MCP servers are still being stopped; the next start sees to them");
        }
    }
}

fn by_server(units: Vec<UnitHandle>) -> BTreeMap<String, Vec<UnitHandle>> {
    let mut by_server: BTreeMap<String, Vec<UnitHandle>> = BTreeMap::new();
    for unit in units {
        let name = unit.spec().name.clone().unwrap_or_default();
        by_server.entry(name).or_default().push(unit);
    }
    by_server
}

fn ended(units: Vec<UnitHandle>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        for unit in units {
            unit.wait_end().await;
        }
    })
}

impl ServerWatcher for Servers {
    fn changed(&self, status: PluginStatus) {
        self.beside.bus.publish(EventBody::PluginChanged(status));
    }

    fn tools_changed(&self, server: &str) {
        let Ok(group) = self.get(server) else {
            return;
        };
        self.beside
            .catalogue
            .put_server(&(Arc::new(group) as Arc<dyn ToolGroup>));
        // No session may be connected.
        let _receivers = self.beside.notices.send(Notice::ToolsChanged);
    }

    fn told(&self, server: &str, method: &str, _params: &Map<String, Value>) {
        tracing::debug!(server, method, "the MCP server said something");
    }

    fn redact(&self, text: String) -> String {
        self.beside.redactor.text(text)
    }
}

impl Harness {
    /// Has the server started that a request names, if it is one that waits for that.
    pub(crate) async fn load_named(&self, request: &CallRequest) {
        if self.catalogue().resolve(request).is_err()
            && let Some(server) = self.servers().named(request)
        {
            server.loaded().await;
        }
    }

    /// The tool a request means. What a server would have, were it there, is not unknown but unavailable.
    pub(crate) fn find(&self, request: &CallRequest) -> Result<Arc<Entry>, Refusal> {
        self.catalogue().resolve(request).map_err(|unknown| {
            let server = self.servers().named(request);
            server
                .and_then(|server| server.absence())
                .unwrap_or(unknown)
        })
    }
}

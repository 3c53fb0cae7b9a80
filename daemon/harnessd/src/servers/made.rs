//! From the configuration to one server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use harness_execute::mcp::{McpServer, Program, Reach, ServerSettings, ServerWatcher};
use harness_mcp::client::HttpTarget;
use harness_supervise::Engine;

use super::connection::ClientConnector;
use crate::{
    config::{
        Places,
        schema::{Load, McpServer as Config},
    },
    harness::InForce,
    systemd::Credentials,
};

/// All that a server is made from. While it stays the same the server runs on.
#[derive(PartialEq)]
pub(super) struct Made {
    name: String,
    config: Config,
    reach: Reach,
    target: Option<HttpTarget>,
    /// Variables or headers with their credentials.
    secrets: Vec<(String, String)>,
    /// Why it cannot be started.
    obstacle: Option<String>,
}

impl Made {
    pub(super) fn of(name: &str, config: &Config, in_force: &InForce, places: &Places) -> Self {
        let (secrets, missing) = secrets(&config.credentials);
        let unit = config.unit.over(&Config::default_unit());
        let mut obstacle = (!missing.is_empty()).then(|| missing.join("; "));
        let (reach, target) = match &config.url {
            Some(url) => match HttpTarget::new(url, headers(config, &secrets)) {
                Ok(target) => (Reach::Address(Box::new(unit)), Some(target)),
                Err(error) => {
                    obstacle.get_or_insert_with(|| error.to_string());
                    (Reach::Address(Box::new(unit)), None)
                }
            },
            None => (
                Reach::Program(Box::new(Program {
                    argv: config.command.clone(),
                    environment: in_force.environment.with(&config.environment),
                    cwd: in_force.loaded.workspace.clone(),
                    unit,
                    output_directory: places.mcp_servers(),
                    output_max: in_force.loaded.config.bash.output_max.0,
                })),
                None,
            ),
        };
        Self {
            name: name.to_owned(),
            config: config.clone(),
            reach,
            target,
            secrets,
            obstacle,
        }
    }

    /// The variables that hold a credential, for the process alone.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        match self.reach {
            Reach::Program(_) => self.secrets.clone(),
            Reach::Address(_) => Vec::new(),
        }
    }

    pub(super) fn begin(
        &self,
        engine: Engine,
        watcher: Arc<dyn ServerWatcher>,
        before: BoxFuture<'static, ()>,
    ) -> McpServer {
        let allowed = globs(&self.config.allowed_tools);
        let connector = Arc::new(ClientConnector::new(self.target.clone()));
        let span = |span: harness_model::TimeSpan| span.finite().filter(|span| !span.is_zero());
        let settings = ServerSettings {
            name: self.name.clone(),
            reach: self.reach.clone(),
            on_demand: self.config.load == Load::Demand,
            allowed: Arc::new(move |tool| allowed.is_match(tool)),
            timeout_start: span(self.config.timeout_start_sec).unwrap_or(Duration::MAX),
            watchdog: span(self.config.watchdog_sec),
            idle_stop: self.config.idle_stop_sec.and_then(span),
            obstacle: self.obstacle.clone(),
        };
        McpServer::begin(settings, engine, connector, watcher, before)
    }
}

/// What is there of the credentials, and what is wrong with the others.
fn secrets(wanted: &BTreeMap<String, String>) -> (Vec<(String, String)>, Vec<String>) {
    let credentials = Credentials::from_environment();
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (target, name) in wanted {
        match credentials.read(name) {
            Ok(text) => found.push((target.clone(), text)),
            Err(error) => missing.push(error.to_string()),
        }
    }
    (found, missing)
}

fn headers(config: &Config, secrets: &[(String, String)]) -> Vec<(String, String)> {
    let given = config.headers.iter();
    let given = given.map(|(name, value)| (name.clone(), value.clone()));
    let secret = secrets.iter().map(|(name, value)| {
        let bare = name.eq_ignore_ascii_case("authorization") && !value.contains(' ');
        let value = if bare {
            format!("Bearer {value}")
        } else {
            value.clone()
        };
        (name.clone(), value)
    });
    given.chain(secret).collect()
}

/// The globs were checked with the configuration; one that cannot be read allows nothing.
fn globs(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Ok(glob) = GlobBuilder::new(pattern).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

//! MCP servers behind the harness: started, looked after, given up, and passed on unchanged.
//!
//! The servers are those of `tests/fixtures/server.py`, which behave as badly as a test wants them to, and real ones that
//! nobody here wrote.

mod calls;
mod config;
mod life;
mod names;
mod same;

use std::path::PathBuf;

use harness_tests::{binaries::source, event, harness::Harness, harness::PATIENCE, mcp::Session};
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    [
        calls::trials(),
        config::trials(),
        life::trials(),
        names::trials(),
        same::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Why the fixture cannot be run here; none when it can.
fn missing() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join("python3").exists());
    (!found).then(|| "python3 is not installed: run tests/tools/install.sh".to_owned())
}

/// A harness with servers, and what they log.
struct Fixture {
    harness: Harness,
}

impl Fixture {
    /// Servers by name, the words they are started with, and more lines of their configuration. The harness runs.
    fn start(servers: &[(&str, &str, &str)]) -> Self {
        let mut fixture = Self::prepared(servers);
        fixture.harness.start_daemon();
        fixture
    }

    /// The same without a daemon yet.
    fn prepared(servers: &[(&str, &str, &str)]) -> Self {
        let fixture = Self {
            harness: Harness::prepared(""),
        };
        fixture.configure(servers);
        fixture
    }

    /// Writes the configuration.
    fn configure(&self, servers: &[(&str, &str, &str)]) {
        let tables: Vec<String> = servers
            .iter()
            .map(|(name, words, more)| self.table(name, words, more))
            .collect();
        self.harness.write_config(&tables.concat());
    }

    fn table(&self, name: &str, words: &str, more: &str) -> String {
        let script = source().join("tests/fixtures/server.py");
        let mut command = vec!["python3".to_owned(), script.display().to_string()];
        command.extend(words.split_whitespace().map(str::to_owned));
        let log = self.log_file(name).display().to_string();
        format!(
            "[mcp.{name}]\ncommand = {command:?}\nenvironment = {{ SERVER_LOG = {log:?} }}\n{more}\n"
        )
    }

    fn log_file(&self, server: &str) -> PathBuf {
        self.harness.path(&format!("{server}.log"))
    }

    /// What a server logged so far.
    fn log(&self, server: &str) -> String {
        std::fs::read_to_string(self.log_file(server)).unwrap_or_default()
    }

    /// Waits until a server has logged a line.
    #[track_caller]
    fn logged(&self, server: &str, line: &str) -> String {
        event::file(&self.log_file(server), PATIENCE, |text| {
            text.lines().any(|found| found == line)
        })
    }

    /// How many lines of its log begin so.
    fn count(&self, server: &str, beginning: &str) -> usize {
        let log = self.log(server);
        log.lines()
            .filter(|line| line.starts_with(beginning))
            .count()
    }

    /// Its status as the API shows it.
    #[track_caller]
    fn status(&self, server: &str) -> Value {
        self.harness.get(&format!("/v1/plugins/{server}"))
    }

    /// Waits until a server is in a state.
    #[track_caller]
    fn until(&self, server: &str, state: &str) -> Value {
        let mut events = self.harness.events();
        let status = self.status(server);
        if status["active_state"] == state {
            return status;
        }
        events.find(|event| {
            event["event"] == "plugin_changed"
                && event["name"] == server
                && event["active_state"] == state
        })
    }

    /// A session that sees one server.
    #[track_caller]
    fn session(&self, server: &str) -> Session {
        Session::of_server(&self.harness.runtime().join("mcp.sock"), server)
    }
}

/// What a refused call says.
#[track_caller]
fn error(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    result["structuredContent"]["error"].clone()
}

/// Restarts as quickly as can be.
const QUICK: &str =
    "unit = { restart_sec = 0.01, restart_steps = 1, restart_max_delay_sec = 0.02 }";

/// Restarts that never come while a test looks.
const LATER: &str =
    "unit = { restart_sec = 3000, restart_steps = 1, restart_max_delay_sec = 3000 }";

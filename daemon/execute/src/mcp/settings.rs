//! What the configuration says about one server.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use harness_model::{KillMode, SandboxRules, UnitId, UnitKind, UnitPolicy, UnitSettings};
use harness_supervise::{OutputFiles, UnitSpec};

/// A program on pipes.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its environment without credentials.
    pub environment: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// The keys of its unit.
    pub unit: UnitSettings,
    /// Where its standard error goes: `ID.err`.
    pub output_directory: PathBuf,
    /// What that may take on disk, in bytes.
    pub output_max: u64,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// By starting it.
    Program(Box<Program>),
    /// At an address that the connector knows; with the delays between attempts.
    Address(Box<UnitSettings>),
}

/// What the configuration says about one server.
#[derive(Clone)]
pub struct ServerSettings {
    /// Its name, which is that of the tool group.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// It is started by the first call that names it.
    pub on_demand: bool,
    /// Which of its tools are offered.
    pub allowed: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// How long it may take to say hello and list its tools.
    pub timeout_start: Duration,
    /// How often it has to answer a ping while nobody calls it, and how quickly; `None`: it is not asked.
    pub watchdog: Option<Duration>,
    /// It is stopped when nobody has called it for this long.
    pub idle_stop: Option<Duration>,
    /// Why it cannot be started at all: a credential is not there.
    pub obstacle: Option<String>,
}

impl Program {
    /// One start of the program.
    pub(super) fn spec(&self, name: &str, id: &UnitId) -> UnitSpec {
        let stderr = self.output_directory.join(format!("{id}.err"));
        UnitSpec {
            kind: UnitKind::McpServer,
            name: Some(name.to_owned()),
            call: None,
            command: self.argv.join(" "),
            argv: self.argv.clone(),
            environment: self.environment.clone(),
            cwd: self.cwd.clone(),
            settings: UnitSettings {
                // What is left of a server whose pipes are gone is of no use.
                kill_mode: Some(self.unit.kill_mode.unwrap_or(KillMode::ControlGroup)),
                ..self.unit.clone()
            },
            output: OutputFiles {
                stdout: stderr.clone(),
                stderr,
                max_bytes: self.output_max,
            },
            stdin: None,
            sandbox: SandboxRules::default(),
        }
    }
}

impl Reach {
    /// The delays and limits of starts. Keys that do not fit together were refused with the configuration.
    pub(super) fn policy(&self) -> Option<UnitPolicy> {
        let unit = match self {
            Self::Program(program) => &program.unit,
            Self::Address(unit) => unit,
        };
        unit.resolve().ok()
    }
}

impl fmt::Debug for ServerSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServerSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

//! The service manager that is asked: the system's or the user's.

use std::time::Duration;

use globset::{Glob, GlobSet, GlobSetBuilder};
use harness_plugin_sdk::Program;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Error, Result};

/// Which one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// PID 1.
    #[default]
    System,
    /// That of the user the plugin runs as.
    User,
}

/// What can be set.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether to ask the system's service manager or the user's.
    pub scope: Scope,
    /// Globs for the units that may be started, stopped, restarted and reloaded. All can be looked at.
    pub manage: Vec<String>,
    /// How long a start or stop may take, in seconds.
    #[schemars(range(min = 1, max = 3600))]
    pub job_timeout_sec: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            scope: Scope::System,
            manage: vec!["*".to_owned()],
            job_timeout_sec: 120,
        }
    }
}

/// The service manager, and what may be changed of it.
#[derive(Debug)]
pub struct Manager {
    settings: Settings,
    managed: GlobSet,
}

impl Manager {
    /// With these settings.
    ///
    /// # Errors
    /// A glob is none.
    pub fn new(settings: Settings) -> Result<Self> {
        let wrong = |value: &str| Error::Value {
            what: "glob",
            value: value.to_owned(),
        };
        let mut managed = GlobSetBuilder::new();
        for pattern in &settings.manage {
            managed.add(Glob::new(pattern).map_err(|_| wrong(pattern))?);
        }
        let managed = managed.build().map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { settings, managed })
    }

    /// `systemctl`, without a pager, a password prompt or colours.
    pub(crate) fn systemctl(&self) -> Program {
        self.program("systemctl")
            .args(["--no-pager", "--no-ask-password"])
    }

    /// `journalctl`, of the system or of the user's services.
    pub(crate) fn journalctl(&self) -> Program {
        self.program("journalctl").args(["--no-pager", "--quiet"])
    }

    fn program(&self, name: &str) -> Program {
        let program = Program::new(name)
            .env("SYSTEMD_COLORS", "0")
            .env("LC_ALL", "C.UTF-8");
        match self.settings.scope {
            Scope::System => program,
            Scope::User => program.args(["--user"]),
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        self.settings.scope
    }

    pub(crate) fn job_timeout(&self) -> Duration {
        Duration::from_secs(self.settings.job_timeout_sec)
    }

    /// An error if the settings do not let this unit be changed.
    pub(crate) fn may_change(&self, unit: &str) -> Result<()> {
        if self.managed.is_match(unit) {
            return Ok(());
        }
        Err(Error::NotManaged {
            name: unit.to_owned(),
            allowed: self.settings.manage.join(", "),
        })
    }
}

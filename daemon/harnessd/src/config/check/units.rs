//! Unit keys that have to fit together.

use harness_model::{SettingsError, UnitSettings};

use super::Checker;
use crate::config::{
    path::{Step, steps},
    schema::{McpServer, Turn},
};

impl Checker<'_> {
    pub(super) fn units(&mut self) {
        let config = self.config;
        self.unit(&steps!["bash", "unit"], &config.bash.unit);
        for (name, server) in &config.mcp {
            let unit = server.unit.over(&McpServer::default_unit());
            self.unit(&steps!["mcp", name, "unit"], &unit);
        }
        if let Some(turn) = &config.turn {
            let unit = turn.unit.over(&Turn::default_unit());
            self.unit(&steps!["turn", "unit"], &unit);
        }
    }

    fn unit(&mut self, path: &[Step], settings: &UnitSettings) {
        let Err(error) = settings.resolve() else {
            return;
        };
        let keys: &[&str] = match &error {
            SettingsError::StepsWithoutMaximum => &["restart_steps", "restart_max_delay_sec"],
            SettingsError::MaximumBelowFirst { .. } => &["restart_max_delay_sec", "restart_sec"],
            SettingsError::MemoryTooSmall(_) => &["memory_max"],
            SettingsError::NoTasks => &["tasks_max"],
        };
        let candidates = keys.iter().map(|key| [path, &[Step::from(*key)]].concat());
        // The other half of a pair may be a default, which stands nowhere.
        let place = candidates
            .into_iter()
            .find(|place| self.tree.get(place).is_some())
            .unwrap_or_else(|| path.to_vec());
        self.error(&place, &error.to_string());
    }
}

//! What the harness says of itself.

use harness_model::HarnessStatus;

use crate::harness::Harness;

impl Harness {
    /// The whole status.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(crate) async fn status(&self) -> Result<HarnessStatus, harness_record::Error> {
        let in_force = self.in_force();
        let keeper = self.keeper.state().borrow().clone();
        Ok(HarnessStatus {
            agent: self.places.agent.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            started_at: self.started_at,
            state: "running".to_owned(),
            workspace: in_force.loaded.workspace.display().to_string(),
            state_directory: self.places.state.display().to_string(),
            runtime_directory: self.places.runtime.display().to_string(),
            config: in_force
                .loaded
                .files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            config_error: self.reload_error(),
            keeper: keeper.status,
            tasks: self.record().task_counts().await?,
            wakes: self.record().wakes_due().await?,
            sessions: self.sessions().count(),
            tool_groups: self.catalogue().groups(&in_force.policy),
            mcp_servers: self.servers().names(),
            enforcement: keeper.enforcement,
        })
    }

    /// One line for systemd's `STATUS=`.
    pub(crate) fn status_line(&self) -> String {
        let running = self.engine().live().len();
        let keeper = if self.keeper.state().borrow().status.connected {
            ""
        } else {
            "; the keeper does not answer"
        };
        let config = self.reload_error().map_or_else(String::new, |error| {
            let first = error.lines().find(|line| !line.trim().is_empty());
            format!("; the last reload was refused: {}", first.unwrap_or(""))
        });
        format!(
            "{running} units, {} sessions{keeper}{config}",
            self.sessions().count()
        )
    }
}

//! Where a server stands.

use std::sync::Arc;

use harness_model::{ActiveState, ErrorCode, PluginKind, PluginStatus, Timestamp, UnitId};

use super::{
    connection::{ServerConnection, ServerDescription},
    settings::{Reach, ServerSettings},
};

/// Where a server stands, as far as calls are concerned.
#[derive(Clone)]
pub(super) enum Phase {
    /// It does not run, and a call may start it unless a person stopped it.
    Stopped {
        /// A person stopped it.
        by_person: bool,
    },
    /// It is on its way.
    Starting {
        /// Nothing went wrong since somebody wanted it, so it is worth waiting for.
        first: bool,
    },
    /// It can be called.
    Ready(Arc<dyn ServerConnection>),
    /// It is down, and will be started again.
    Down,
    /// It will not be started again by itself.
    Failed(ErrorCode),
}

/// All that is known of a server.
#[derive(Clone)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// Why it is not ready, or last was not.
    pub(super) why: Option<String>,
    pub(super) restarts: u32,
    pub(super) unit: Option<UnitId>,
    pub(super) pid: Option<i32>,
    pub(super) ready_since: Option<Timestamp>,
    /// What it last said of itself.
    pub(super) description: Option<Arc<ServerDescription>>,
    pub(super) tools: u32,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Stopped { by_person: false },
            why: None,
            restarts: 0,
            unit: None,
            pid: None,
            ready_since: None,
            description: None,
            tools: 0,
        }
    }

    /// Whether it makes sense to wait for another state.
    pub(super) fn is_on_its_way(&self) -> bool {
        matches!(self.phase, Phase::Starting { first: true })
    }

    /// Whether calls go to this connection.
    pub(super) fn is_served_by(&self, connection: &Arc<dyn ServerConnection>) -> bool {
        matches!(&self.phase, Phase::Ready(current) if Arc::ptr_eq(current, connection))
    }

    /// As the API and the events show it.
    pub(super) fn status(&self, settings: &ServerSettings) -> PluginStatus {
        let description = self.description.as_ref();
        let text = |member: &str| {
            let info = description?.info.as_ref()?;
            info[member].as_str().map(str::to_owned)
        };
        let program = [text("name"), text("version")];
        let program: Vec<String> = program.into_iter().flatten().collect();
        PluginStatus {
            name: settings.name.clone(),
            kind: match settings.reach {
                Reach::Program(_) => PluginKind::Stdio,
                Reach::Address(_) => PluginKind::Http,
            },
            active_state: match self.phase {
                Phase::Stopped { .. } => ActiveState::Inactive,
                Phase::Starting { .. } | Phase::Down => ActiveState::Activating,
                Phase::Ready(_) => ActiveState::Active,
                Phase::Failed(_) => ActiveState::Failed,
            },
            on_demand: settings.on_demand,
            tools: self.tools,
            restarts: self.restarts,
            unit: self.unit.clone(),
            pid: self.pid,
            active_since: self.ready_since,
            protocol: description.map(|description| description.protocol.clone()),
            program: (!program.is_empty()).then(|| program.join(" ")),
            last_error: self.why.clone(),
        }
    }
}

//! A unit's way into the record and back.

use crate::{Timestamp, UnitId, UnitKind, UnitSettings, UnitState, UnitStatus};

/// How a text begins that stands where a secret was: `[redacted NAME]`. A specification that holds one
/// cannot be run again.
pub const REDACTED: &str = "[redacted ";

/// A new unit, as it goes into the record before its first process.
#[derive(Debug, Clone, PartialEq)]
pub struct NewUnit {
    /// Its id.
    pub id: UnitId,
    /// What it is for.
    pub kind: UnitKind,
    /// The name its maker gave it.
    pub name: Option<String>,
    /// What people see: the command as given.
    pub command: String,
    /// Everything needed to run it again after a restart of the daemon, as the engine's JSON.
    pub spec: String,
    /// Where it runs.
    pub cwd: String,
    /// The keys that were set.
    pub settings: UnitSettings,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A change of a unit's state.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The unit.
    pub unit: UnitId,
    /// What it is for.
    pub kind: UnitKind,
    /// Its state now.
    pub state: UnitState,
    /// The starts that the start limit still counts, oldest first, by the wall clock.
    pub recent_starts: Vec<Timestamp>,
    /// The last lines of stdout, when it has come to rest: a wake's body.
    pub last_lines: Option<String>,
    /// Somebody was waiting for this end, so no wake is due unless they turn out to be gone.
    pub awaited: bool,
}

/// A unit as the record gives it back.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredUnit {
    /// What it was made as.
    pub unit: NewUnit,
    /// Its last recorded state.
    pub state: UnitState,
    /// The starts that the start limit still counts, oldest first, by the wall clock.
    pub recent_starts: Vec<Timestamp>,
}

impl StoredUnit {
    /// As the API shows it.
    #[must_use]
    pub fn status(&self) -> UnitStatus {
        UnitStatus {
            id: self.unit.id.clone(),
            kind: self.unit.kind,
            name: self.unit.name.clone(),
            command: self.unit.command.clone(),
            cwd: self.unit.cwd.clone(),
            created_at: self.unit.created_at,
            settings: self.unit.settings.clone(),
            state: self.state.clone(),
        }
    }
}

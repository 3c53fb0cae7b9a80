//! What can go wrong with a unit.

use std::{io, path::PathBuf};

use harness_model::{SettingsError, SubState, TimeSpan, UnitId};

use crate::{JournalError, SpawnError, spec::SpecError};

/// Why a start left no running unit behind and no trace in the record.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The unit's keys contradict each other.
    #[error("the unit's settings do not fit together: {0}")]
    Settings(#[from] SettingsError),
    /// A process cannot be started with this.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The id is in use.
    #[error(
        "unit {unit} runs already, or its end is still being recorded: take another id, or wait for it"
    )]
    Taken {
        /// The id.
        unit: UnitId,
    },
    /// An output file cannot be made.
    #[error("cannot open the output file {}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Nothing runs that is not recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What the record holds is not a unit of this version, or cannot be written as one.
    #[error("the recorded form of unit {unit} cannot be used: start it anew")]
    Recorded {
        /// The unit.
        unit: UnitId,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// systemd's start limit; the unit is failed now.
    #[error(
        "unit {unit} was started {burst} times within {interval}: wait, or raise start_limit_burst"
    )]
    StartLimit {
        /// The unit.
        unit: UnitId,
        /// `start_limit_burst`
        burst: u32,
        /// `start_limit_interval_sec`
        interval: TimeSpan,
    },
    /// The daemon is going down.
    #[error("unit {unit} was not started, because the daemon is stopping: try again later")]
    Stopping {
        /// The unit.
        unit: UnitId,
    },
}

/// Why something could not be done to a unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is no process to signal.
    #[error("unit {unit} has no process ({sub_state}): start it first")]
    NotRunning {
        /// The unit.
        unit: UnitId,
        /// Its state.
        sub_state: SubState,
    },
    /// It came to rest before.
    #[error("unit {unit} has come to rest: start it again instead")]
    AtRest {
        /// The unit.
        unit: UnitId,
    },
    /// Somebody else asked for the opposite in the meantime.
    #[error("unit {unit} was {what} by somebody else in the meantime: look at its state")]
    Superseded {
        /// The unit.
        unit: UnitId,
        /// `started` or `stopped`
        what: &'static str,
    },
    /// The owner of its process could not do it.
    #[error(transparent)]
    Spawner(#[from] SpawnError),
    /// It was stopped, and could not be started again.
    #[error("unit {unit} was stopped but not started again: {reason}")]
    NotStarted {
        /// The unit.
        unit: UnitId,
        /// Why.
        reason: String,
    },
}

//! Units: their state machine, restart arithmetic, output files and the actor that drives them.

mod journal;
mod spawner;

pub use journal::{Journal, JournalError};
pub use spawner::{
    Adopted, ProcessEvent, SpawnError, SpawnRequest, Spawned, Spawner, Stdio, StopSequence,
    TreeLimits,
};

//! Units: their state machine, restart arithmetic, output files and the actor that drives them.
//!
//! A unit is one command with systemd's life around it. [`Engine::start`] writes it into the
//! [`Journal`] and hands it to an actor, one task per live unit. The actor feeds a pure machine
//! ([`state`]) with what happens and does what the machine asks for, through a [`Spawner`] that owns
//! the processes. Nothing polls: a unit that only runs costs one sleeping task.
//!
//! The order is always the same: a run is in the record before its process exists, an end is in the
//! record before anybody is told of it, and only then may the owner of the process forget it.

mod actor;
mod clock;
mod engine;
mod environment;
mod error;
mod handle;
mod journal;
pub mod output;
pub mod restart;
mod spawner;
mod spec;
pub mod state;
mod stored;
mod waits;

pub use actor::Connection;
pub use clock::{Moment, Now};
pub use engine::Engine;
pub use environment::RunEnvironment;
pub use error::{StartError, UnitError};
pub use handle::UnitHandle;
pub use journal::{Journal, JournalError};
pub use spawner::{
    Adopted, ProcessEvent, SpawnError, SpawnRequest, Spawned, Spawner, Stdio, StopSequence,
    TreeLimits,
};
pub use spec::{OutputFiles, SpecError, UnitSpec};
pub use waits::{Ending, Waiter};

//! Telling the world what happened.
//!
//! The [`Bus`] hands events to those who watch and keeps the newest for those who come back. Nobody
//! who watches can slow down what is watched: a reader that does not keep up loses events and is told
//! how many. [`WakeBell`] says that wakes are due, as often as it takes and no more. [`trace`] writes
//! the events to a file.

mod bell;
mod bus;
mod history;
mod queue;
mod subscription;
mod trace;

pub use bell::{WakeBell, WakeListener};
pub use bus::{Bus, Filter};
pub use subscription::Subscription;
pub use trace::{TraceError, TraceFile, trace};

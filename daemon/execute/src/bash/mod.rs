//! The tool group `bash`: background shell tasks.
//!
//! `run` makes a unit of kind `task` and waits a little; the other tools look at it, wait for it or end
//! it. The unit engine does the work, so what is said here of a task is what the engine says.

mod group;
mod input;
mod list;
mod look;
mod render;
mod run;
mod settings;
mod status;

pub use group::Bash;
pub use render::{full, headline};
pub(crate) use run::LONGEST_COMMAND;
pub use settings::{BashSettings, EnvironmentOf};
pub use status::task_status;

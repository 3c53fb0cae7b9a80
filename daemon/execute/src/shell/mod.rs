//! The tool group `shell`: one command in the workspace, and its whole result in the answer.
//!
//! [`Shell::prepare`](crate::ToolGroup::prepare) fixes what a call leaves open (interpreter, directory, time limit)
//! before anybody judges it; the command then runs as a unit of kind `shell`.

mod directory;
mod group;
mod identity;
mod input;
mod interpreter;
mod live;
mod refusal;
mod result;
mod run;
mod settings;

pub use group::Shell;
pub use live::{LiveOutput, LivePiece};
pub use settings::ShellSettings;

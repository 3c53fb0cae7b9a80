//! The output files of units: how they are opened, read, followed and kept within their budget.
//!
//! A process writes straight into its files; nothing stands in between. All functions here are
//! synchronous and touch only the parts of a file they return, so that a file of any size is cheap.

pub(crate) mod budget;
mod follow;
mod gap;
pub(crate) mod open;
mod read;
mod tail;
mod text;
mod watcher;

pub use follow::Follow;
pub use gap::gap;
pub use read::{MAX_PIECE, Piece, read, read_ended};
pub use tail::{last_lines, tail};
pub use text::plain;

//! The configuration of a harness: its places, its files, its keys, and what they mean for children.
//!
//! [`Places`] says where the files are, [`Config::load`] reads and checks them, [`Changes`]
//! compares two of them for a reload, [`ChildEnvironment`] makes the environment of a child, and
//! [`StateLock`] keeps a second daemon out.

mod changes;
mod check;
mod describe;
mod diagnostic;
mod environment;
mod error;
mod file;
mod host;
mod load;
mod lock;
mod merge;
mod nearest;
mod node;
mod not_yet;
mod path;
mod places;
mod read;
mod read_error;
mod rule;
pub mod schema;
#[cfg(test)]
mod tests;
mod token;

pub use changes::{Changes, Part};
pub use check::{BUILT_IN_GROUPS, BuiltInGroup, Tokens};
pub use diagnostic::{Diagnostic, Diagnostics, Severity, Source, Span};
pub use environment::{
    ChildEnvironment, ChildUser, DEFAULT_PATH, VariableMap, is_valid, is_withheld, of_process,
};
pub(crate) use environment::{excluded, matcher};
pub use error::{LockError, PlacesError};
pub use host::Host;
pub use load::Loaded;
pub use lock::StateLock;
pub(crate) use nearest::hint;
pub use nearest::nearest;
pub use not_yet::GROUPS_NOT_YET;
pub use places::{AgentName, Mode, Places, PlacesRequest, SOCKET_PATH_MAX, Variables};
pub use rule::ShellLimits;
pub use schema::Config;
pub use token::{Token, TokenError, UnfitToken};

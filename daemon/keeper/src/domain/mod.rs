//! Landlock domains (landlock(7)) and the rules in them.
//!
//! Every confined child enters a domain of its own, from which it can signal and trace only what is
//! in the same domain or a nested one. With file rules it enters a second one: that of what may be
//! changed and executed is made for each child, because it names the child's own output files; that of what is
//! hidden has a rule for each sibling of a hidden path, so it is made once for the same rules, and again
//! when one of the directories it was made from has changed.

mod confine;
mod error;
mod hidden;
mod kernel;
mod place;
mod ruleset;
mod socket_filter;
mod stamp;
mod tree;

pub(crate) use confine::{Confinement, Domain};
pub(crate) use error::DomainError;
pub(crate) use kernel::{Kernel, NO_SIGNAL_SCOPE};
pub(crate) use socket_filter::SocketFilter;

//! Starting a process.
//!
//! The child is made by clone3(2) with `CLONE_VM | CLONE_VFORK`, so that the cost does not depend on
//! the size of the keeper, and born inside its cgroup. Everything that needs memory is prepared
//! before; the child only makes system calls and tells a failed step through shared memory.

mod child;
mod clone;
mod lookup;
mod prepare;

pub(crate) use child::{Credentials, Plan, Step};
pub(crate) use clone::Launcher;
pub(crate) use prepare::{INVOCATION_VARIABLE, KEEPER_VARIABLE, Prepared};

//! Control groups of the second version (the kernel's cgroup-v2 document, and systemd's on delegation).

mod controllers;
mod hierarchy;
mod memory;
mod mount;
mod unit;

pub(crate) use controllers::Controllers;
pub(crate) use hierarchy::Hierarchy;
pub(crate) use memory::{MemoryWatch, kills_in};
pub(crate) use unit::{UnitCgroup, not_enforced};

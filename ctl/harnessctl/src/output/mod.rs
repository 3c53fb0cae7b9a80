//! What people see.

pub(crate) mod escape;
pub(crate) mod span;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod task;

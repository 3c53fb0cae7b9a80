//! What people see.

pub(crate) mod fields;
mod print;
pub(crate) mod span;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod task;

pub(crate) use harness_model::escape;
pub(crate) use print::{note, print, print_json, print_json_line};

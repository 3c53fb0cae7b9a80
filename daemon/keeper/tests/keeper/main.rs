//! The keeper with real processes.

mod spawn;
mod support;

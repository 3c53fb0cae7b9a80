//! The tool harness of one AI agent: wiring of the rooms, and its fronts.

pub mod keeper;

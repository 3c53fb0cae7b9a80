//! Fronts: each translates one wire into calls of the harness and back, and decides nothing else.

pub mod authority;
pub mod http;
pub mod lineage;

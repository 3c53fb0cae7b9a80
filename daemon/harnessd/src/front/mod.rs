//! Fronts: each translates one wire into calls of the harness and back, and decides nothing else.

pub(crate) mod agent;
pub mod authority;
pub mod http;
pub mod lineage;
pub(crate) mod peer;
pub(crate) mod person;
mod socket_holder;
pub(crate) mod tools;

//! The protocol between the daemon and its keeper.
//!
//! The keeper is the program `harness-keeper` of this crate: a small single-threaded process that owns
//! every child of a harness. It spawns, signals, reaps and reports, and decides nothing. Both sides
//! use this library; it has no async runtime in it.

pub mod protocol;

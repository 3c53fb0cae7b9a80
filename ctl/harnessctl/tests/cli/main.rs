//! The program, as a person or a script calls it.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

#[path = "../../../client/tests/support/mod.rs"]
mod support;

mod config;
mod errors;
mod help;
mod mcp;
mod program;
mod run;
mod show;

//! The program, as a person or a script calls it.

#[path = "../../../client/tests/support/mod.rs"]
mod support;

mod config;
mod errors;
mod help;
mod mcp;
mod program;
mod run;
mod show;

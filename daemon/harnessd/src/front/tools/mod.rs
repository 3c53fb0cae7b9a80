//! `tools.sock`: the command `tools` of the scripts that run here.
//!
//! It translates: words and standard input into a call, the outcome into output and an exit status. Which
//! tool is meant and what a word stands for is read by [`harness_authorize::command`], as a plan reads it; that a call
//! stops its script is decided here, and nothing of the script runs after it.

mod connection;
mod help;
mod listen;
mod names;
mod render;
mod search;
mod session;

pub(crate) use listen::serve;
pub(crate) use names::Names;

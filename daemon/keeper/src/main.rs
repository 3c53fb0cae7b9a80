//! The process that owns every child of a harness.
//!
//! One thread, one epoll(7) loop: requests of the daemon, ended children, emptied cgroups, and the
//! deadlines of stops. See [`keeper::Keeper`] for what it holds.

mod arguments;
mod begin;
mod cgroup;
mod connection;
mod detach;
mod domain;
mod enforcement;
mod keeper;
mod listen;
mod locate;
mod peer;
mod privilege;
mod process;
mod reap;
mod serve;
mod signal;
mod spawn;
mod start;
mod stop;
mod sweep;
mod tree;
mod unit;
mod wait;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use arguments::Invocation;

fn main() -> ExitCode {
    match arguments::parse(std::env::args().skip(1)) {
        Ok(Invocation::Run(arguments)) => match start::run(&arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                log(&error.to_string());
                ExitCode::FAILURE
            }
        },
        Ok(Invocation::Print(text)) => {
            drop(io::stdout().write_all(text.as_bytes()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            log(&error);
            ExitCode::from(2)
        }
    }
}

/// Says something to whoever reads standard error, if anyone does.
fn log(text: &str) {
    drop(writeln!(io::stderr(), "harness-keeper: {text}"));
}

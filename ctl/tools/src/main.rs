//! `tools`: an agent's tools as a command. It carries its words to the daemon and does what it is told.

mod command;
mod image;

use std::{
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    match command::run() {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            let line = failure.to_json();
            // Nobody reads it: there is nobody to tell.
            writeln!(io::stderr(), "{line}").ok();
            ExitCode::FAILURE
        }
    }
}

//! The command line of harnessd.

mod arguments;
mod command;
mod context;
mod error;
mod exit;
mod output;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // The bridge copies bytes for as long as the client lives: it needs no runtime.
    if let Command::Mcp(mcp) = &arguments.command {
        return command::mcp::execute(mcp, &arguments.place.selector()).into();
    }
    let context = context::Context::new(&arguments);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(command::execute(arguments.command, &context)),
        Err(source) => Err(error::Error::Runtime { source }),
    };
    match outcome {
        Ok(code) => code.into(),
        Err(error) => context.report(&error).into(),
    }
}

//! The daemon.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use harnessd::{
    cli::Arguments,
    config::{Config, Diagnostics, Host, Places},
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = if arguments.schema {
        print_schema()
    } else {
        check(&arguments)
    };
    result.unwrap_or_else(|error| {
        complain(&format!("harnessd: {error}\n"));
        ExitCode::FAILURE
    })
}

fn print_schema() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut text = serde_json::to_string_pretty(&Config::schema())?;
    text.push('\n');
    io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// `--check`: exactly what a start does with the configuration.
fn check(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let variables = std::env::vars_os().collect();
    let uid = rustix::process::geteuid().as_raw();
    let places = Places::resolve(arguments.places(), &variables, uid)?;
    let host = Host {
        offline: arguments.offline,
        ..Host::current()
    };
    match Config::load_on(&places, &host) {
        Ok(loaded) => {
            show(&loaded.warnings);
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            show(&problems);
            Ok(ExitCode::FAILURE)
        }
    }
}

fn show(problems: &Diagnostics) {
    complain(&problems.render(io::stderr().is_terminal()));
}

/// A closed stderr is no reason to fail.
fn complain(text: &str) {
    drop(io::stderr().write_all(text.as_bytes()));
}

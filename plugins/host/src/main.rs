//! Loads one plugin and serves its tools as MCP on standard input and output.
//!
//! A plugin is foreign code in the process that loads it, so this process has nothing but the plugin: when it
//! crashes, hangs or writes where it should not, it takes down itself and its calls. The server is written by
//! hand, since it needs few of MCP's methods, and nothing of a runtime belongs beside foreign code.
//!
//! The plugin gets neither end of the protocol: before it is loaded, standard input becomes empty and
//! standard output becomes standard error ([`streams`]).

mod arguments;
mod call;
mod calls;
mod error;
mod exit;
mod lent;
mod library;
mod lines;
mod load;
mod message;
mod plugin;
mod result;
mod schema;
mod server;
mod streams;
mod writer;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use arguments::{Arguments, Purpose};
use error::Result;

fn main() -> ExitCode {
    match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Purpose::Run(arguments)) => {
            let code = match run(&arguments) {
                Ok(()) => 0,
                Err(error) => {
                    log(&error.to_string());
                    1
                }
            };
            exit::now(code)
        }
        Ok(Purpose::Print(text)) => {
            drop(io::stdout().write_all(text.as_bytes()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            log(&error);
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let streams = streams::take()?;
    let plugin = load::within(arguments)?;
    match plugin {
        load::Loaded::Described(description) => {
            let mut text = serde_json::to_vec_pretty(&description)?;
            text.push(b'\n');
            (&streams.output).write_all(&text)?;
        }
        load::Loaded::Begun(plugin) => server::serve(plugin, streams),
    }
    Ok(())
}

/// Says something to whoever reads standard error, if anyone does.
fn log(text: &str) {
    let line = format!("harness-plugin-host: {text}\n");
    // One write, past every lock: it is said even while the plugin holds some.
    rustix::io::write(rustix::stdio::stderr(), line.as_bytes()).unwrap_or_default();
}

//! `harnessd`: the tool harness of one AI agent.

use std::{error::Error, process::ExitCode};

use clap::Parser as _;
use harnessd::{
    cli::{self, Arguments},
    daemon,
    systemd::Activated,
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match cli::answer(&arguments) {
        Ok(Some(code)) => return code,
        Ok(None) => {}
        Err(error) => {
            cli::complain(&format!("harnessd: {error}\n"));
            return ExitCode::FAILURE;
        }
    }
    daemon::init_log();
    match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &Arguments) -> Result<(), daemon::Fatal> {
    // Before there is a second thread: it takes variables out of the environment.
    let activated = Activated::take()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|source| daemon::Fatal::System {
            what: "start the runtime",
            source,
        })?;
    runtime.block_on(daemon::run(arguments, activated))
}

/// The error and what caused it, each once.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

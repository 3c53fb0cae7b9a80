//! `harnessd`: the tool harness of one AI agent.

use std::{io::IsTerminal as _, process::ExitCode};

use clap::Parser as _;
use harnessd::{
    cli::{self, Arguments},
    daemon,
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(code) = cli::answer(&arguments, std::io::stderr().is_terminal()) {
        return code;
    }
    daemon::init_log();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(daemon::run(&arguments)),
        Err(source) => Err(daemon::Fatal::System { what: "start the runtime", source }),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

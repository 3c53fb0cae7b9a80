//! `harnessctl wait`

use clap::Args;
use harness_model::{TimeSpan, UnitId};

use crate::{context::Context, error::Result, exit::Exit};

/// Wait for the end of tasks and end with the exit code of the first that failed
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<UnitId>,
    /// Wait no longer than this for each, as in 90 or 5min
    #[arg(long, value_name = "SPAN")]
    timeout: Option<TimeSpan>,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let mut first_failure = Exit::DONE;
    for id in &arguments.ids {
        let status = client
            .task_end(id, arguments.timeout.and_then(TimeSpan::finite))
            .await?;
        context.show_line(&status)?;
        if first_failure == Exit::DONE {
            first_failure = Exit::of_task(&status);
        }
    }
    Ok(first_failure)
}

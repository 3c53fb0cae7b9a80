//! The verbs, one file each.

pub(crate) mod answer;
pub(crate) mod approvals;
pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod mcp;
pub(crate) mod mcp_config;
pub(crate) mod output;
pub(crate) mod plugins;
pub(crate) mod reload;
pub(crate) mod restart;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod signal;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod tools;
pub(crate) mod units;
pub(crate) mod wait;
pub(crate) mod wakes;

use futures_util::{StreamExt as _, stream};
use harness_model::{TaskStatus, UnitId};

use crate::{arguments::Command, context::Context, error::Result, exit::Exit};

/// Carries a command out; its exit code unless it failed.
pub(crate) async fn execute(command: Command, context: &Context) -> Result<Exit> {
    match command {
        Command::Status(arguments) => status::execute(arguments, context).await,
        Command::Run(arguments) => run::execute(arguments, context).await,
        Command::Shell(arguments) => shell::execute(arguments, context).await,
        Command::List(arguments) => list::execute(arguments, context).await,
        Command::Output(arguments) => output::execute(arguments, context).await,
        Command::Wait(arguments) => wait::execute(arguments, context).await,
        Command::Stop(arguments) => stop::execute(arguments, context).await,
        Command::Restart(arguments) => restart::execute(arguments, context).await,
        Command::Signal(arguments) => signal::execute(arguments, context).await,
        Command::Wakes(arguments) => wakes::execute(arguments, context).await,
        Command::Events(arguments) => events::execute(arguments, context).await,
        Command::Units(arguments) => units::execute(arguments, context).await,
        Command::Plugins(arguments) => plugins::execute(arguments, context).await,
        Command::Tools(arguments) => tools::execute(arguments, context).await,
        Command::Call(arguments) => call::execute(arguments, context).await,
        Command::Calls(arguments) => calls::execute(arguments, context).await,
        Command::Approvals(arguments) => approvals::execute(arguments, context).await,
        Command::Approve(arguments) => answer::approve(arguments, context).await,
        Command::Reject(arguments) => answer::reject(arguments, context).await,
        Command::Explain(arguments) => explain::execute(arguments, context).await,
        Command::Reload(arguments) => reload::execute(arguments, context).await,
        Command::Mcp(arguments) => Ok(mcp::execute(&arguments, &context.selector)),
        Command::McpConfig(arguments) => mcp_config::execute(arguments, context).await,
    }
}

/// How many tasks are asked for at once: a stop may take its time.
const AT_ONCE: usize = 64;

/// Does the same to each task, to many at once. A failure is reported and does not spare the others.
async fn each(
    ids: &[UnitId],
    context: &Context,
    act: impl AsyncFn(&UnitId) -> harness_client::Result<TaskStatus>,
) -> Result<Exit> {
    let mut worst = Exit::DONE;
    let mut answers = stream::iter(ids).map(|id| act(id)).buffered(AT_ONCE);
    while let Some(answer) = answers.next().await {
        match answer {
            Ok(status) => context.show_line(&status)?,
            Err(error) => worst = worst.max(context.report(&error.into())),
        }
    }
    Ok(worst)
}

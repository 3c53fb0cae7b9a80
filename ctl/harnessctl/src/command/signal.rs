//! `harnessctl signal`

use clap::Args;
use harness_model::{Signal, UnitId};

use crate::{command::each, context::Context, error::Result, exit::Exit};

/// Send a signal to a task
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The task
    id: UnitId,
    /// The signal, by name or number
    signal: Signal,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    each(&[arguments.id], context, async |id| {
        client.signal(id, arguments.signal).await
    })
    .await
}

//! `harnessctl stop`

use clap::Args;
use harness_model::UnitId;

use crate::{command::each, context::Context, error::Result, exit::Exit};

/// Stop tasks and their whole trees
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<UnitId>,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    each(&arguments.ids, context, async |id| client.stop(id).await).await
}

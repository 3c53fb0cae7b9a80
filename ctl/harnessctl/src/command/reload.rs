//! `harnessctl reload`

use clap::Args;

use crate::{context::Context, error::Result, exit::Exit, output::escape};

/// Have the configuration read anew; a bad one is refused and the old one runs on
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) async fn execute(_: Arguments, context: &Context) -> Result<Exit> {
    let status = context.client()?.reload().await?;
    context.show(&status, |status| match status.config.as_slice() {
        [] => "reloaded: no configuration file, defaults\n".to_owned(),
        files => format!("reloaded: {}\n", escape::text(&files.join(", "))),
    })?;
    Ok(Exit::DONE)
}

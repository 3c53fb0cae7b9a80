//! `harnessctl wakes`

use clap::Args;
use harness_model::{Wake, WakeId};
use serde_json::json;

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, fields::Fields, note, print_json, span},
};

/// List the wakes that nobody has acknowledged, or acknowledge them
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Acknowledge these; without --ack, show only these
    #[arg(value_name = "ID")]
    ids: Vec<i64>,
    /// Acknowledge the wakes shown: the agent will not be told of them any more
    #[arg(long)]
    ack: bool,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let wanted = |wake: &Wake| arguments.ids.is_empty() || arguments.ids.contains(&wake.id.0);
    let mut wakes = client.wakes(Some(1000)).await?;
    wakes.retain(wanted);
    let acknowledged = if arguments.ack {
        // Those that are not due any more are asked for too, so that the answer can say so.
        let named: Vec<WakeId> = arguments.ids.iter().copied().map(WakeId).collect();
        let shown: Vec<WakeId> = wakes.iter().map(|wake| wake.id).collect();
        client
            .wakes_ack(if named.is_empty() { &shown } else { &named })
            .await?
    } else {
        Vec::new()
    };
    if context.json && arguments.ack {
        print_json(&json!({ "wakes": wakes, "acknowledged": acknowledged }))?;
    } else {
        context.show(&wakes, |wakes| {
            wakes.iter().map(|wake| describe(wake, context)).collect()
        })?;
    }
    let missing = arguments.ids.iter().filter(|id| {
        let known = if arguments.ack {
            acknowledged.contains(&WakeId(**id))
        } else {
            wakes.iter().any(|wake| wake.id.0 == **id)
        };
        !known
    });
    let mut exit = Exit::DONE;
    for id in missing {
        note(&format!("harnessctl: wake {id} is not due"));
        exit = Exit::FAILED;
    }
    Ok(exit)
}

fn describe(wake: &Wake, context: &Context) -> String {
    let age = span::span(context.now.since(wake.created_at));
    let name = wake
        .name
        .as_ref()
        .map(|name| format!(" ({})", escape::text(name)))
        .unwrap_or_default();
    let exit = wake
        .exit_code
        .map(|code| format!(", exit {code}"))
        .unwrap_or_default();
    let from = escape::text(&wake.from);
    let mut text = Fields::new(format!(
        "{} {from}{name}: {}{exit}, {age} ago, delivered {} times",
        wake.id, wake.status, wake.deliveries
    ));
    text.quote(&wake.body);
    text.into_text()
}

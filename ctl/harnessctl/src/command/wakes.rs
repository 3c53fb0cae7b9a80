//! `harnessctl wakes`

use clap::Args;
use harness_model::{TimeSpan, Wake, WakeId};
use serde_json::json;

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, fields::Fields, note, print_json, span},
};

/// List the wakes that nobody has acknowledged, wait for one, or acknowledge them
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Acknowledge these; without --ack, show only these
    #[arg(value_name = "ID", conflicts_with = "wait")]
    ids: Vec<i64>,
    /// Wait for the first, at most this long, and take delivery of those that are due then
    #[arg(long, value_name = "SPAN", num_args = 0..=1, require_equals = true, default_missing_value = "infinity")]
    wait: Option<TimeSpan>,
    /// Acknowledge the wakes shown: the agent will not be told of them any more
    #[arg(long)]
    ack: bool,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let wakes = match arguments.wait {
        Some(limit) => client.wakes_wait(limit.finite()).await?,
        None => client.wakes(Some(1000)).await?,
    };
    if arguments.wait.is_some() && wakes.is_empty() {
        context.show(&wakes, |_| String::new())?;
        return Ok(Exit::NOT_YET);
    }
    let named = &arguments.ids;
    let shown: Vec<&Wake> = wakes
        .iter()
        .filter(|wake| named.is_empty() || named.contains(&wake.id.0))
        .collect();
    let mut known: Vec<WakeId> = shown.iter().map(|wake| wake.id).collect();
    if arguments.ack {
        // Those that are not due any more are asked for too, so that the answer can say so.
        let all: Vec<WakeId> = named.iter().copied().map(WakeId).collect();
        known = client
            .wakes_ack(if all.is_empty() { &known } else { &all })
            .await?;
    }
    if context.json && arguments.ack {
        print_json(&json!({ "wakes": shown, "acknowledged": known }))?;
    } else {
        context.show(&shown, |wakes| {
            wakes.iter().map(|wake| describe(wake)).collect()
        })?;
    }
    let mut exit = Exit::DONE;
    for id in named.iter().filter(|id| !known.contains(&WakeId(**id))) {
        note(&format!("harnessctl: wake {id} is not due"));
        exit = Exit::FAILED;
    }
    Ok(exit)
}

fn describe(wake: &Wake) -> String {
    let age = span::age(wake.created_at);
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

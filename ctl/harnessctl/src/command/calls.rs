//! `harnessctl calls`

use std::time::Duration;

use clap::Args;
use harness_model::{CallId, CallQuery, CallRecord, CallState, Page, SessionId};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{span, style::Tone, table::Table},
};

/// List calls of tools, newest first, the refused ones included
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only calls of the tool with this name
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls that were made from this call
    #[arg(long, value_name = "ID")]
    parent: Option<CallId>,
    /// Only calls of this connection
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Only calls in this state: open, ok, failed, refused, cancelled or outcome_unknown
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<CallState>,
    /// How many at most, 1000 at the very most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

fn state(word: &str) -> Result<CallState, String> {
    let known: Vec<&str> = CallState::ALL.iter().map(|state| state.as_str()).collect();
    CallState::from_word(word).ok_or_else(|| format!("expected one of {}", known.join(", ")))
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let Arguments {
        tool,
        parent,
        session,
        state,
        limit,
    } = arguments;
    let query = CallQuery {
        limit: Some(limit),
        before: None,
        parent,
        session,
        tool,
        state,
    };
    let page = context.client()?.calls(&query).await?;
    context.show(&page, |page| list(page, context))?;
    Ok(Exit::DONE)
}

fn list(page: &Page<CallRecord>, context: &Context) -> String {
    let mut table = Table::new(&[
        "ID", "AGE", "FRONT", "SESSION", "TOOL", "STATE", "CODE", "DURATION", "INPUT",
    ]);
    for call in &page.items {
        let duration = call
            .duration_usec
            .map(|micros| span::span(Duration::from_micros(micros)));
        let dash = || "-".to_owned();
        table.row(vec![
            (Tone::Plain, call.id.to_string()),
            (Tone::Plain, span::age(call.started_at)),
            (Tone::Plain, call.front.to_string()),
            (Tone::Plain, call.session.to_string()),
            (Tone::Plain, format!("{}.{}", call.group, call.tool)),
            (Tone::of_call(call.state), call.state.to_string()),
            (
                Tone::Plain,
                call.code.map_or_else(dash, |code| code.to_string()),
            ),
            (Tone::Plain, duration.unwrap_or_else(dash)),
            (Tone::Plain, call.input.to_string()),
        ]);
    }
    table.render(context.style)
}

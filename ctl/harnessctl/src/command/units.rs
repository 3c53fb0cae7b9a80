//! `harnessctl units`

use clap::Args;
use harness_model::{
    ActiveState, ExitStatus, Invocation, Page, UnitId, UnitKind, UnitQuery, UnitStatus,
};
use serde_json::json;

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{fields::Fields, print, print_json, span, style::Tone, table::Table},
};

/// List units of every kind, newest first, or show one and its runs
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The unit
    id: Option<UnitId>,
    /// Only units of this kind: task, shell, mcp-server, plugin-host, turn or hook
    #[arg(long, value_name = "KIND", value_parser = kind, conflicts_with = "id")]
    kind: Option<UnitKind>,
    /// Only units in this state: inactive, activating, active, deactivating or failed
    #[arg(long, value_name = "STATE", value_parser = state, conflicts_with = "id")]
    state: Option<ActiveState>,
    /// How many at most, 1000 at the very most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

fn kind(word: &str) -> Result<UnitKind, String> {
    let known: Vec<&str> = UnitKind::ALL.iter().map(|kind| kind.as_str()).collect();
    UnitKind::from_word(word).ok_or_else(|| format!("expected one of {}", known.join(", ")))
}

fn state(word: &str) -> Result<ActiveState, String> {
    let known: Vec<&str> = ActiveState::ALL
        .iter()
        .map(|state| state.as_str())
        .collect();
    ActiveState::from_word(word).ok_or_else(|| format!("expected one of {}", known.join(", ")))
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let Some(id) = arguments.id else {
        let Arguments {
            kind, state, limit, ..
        } = arguments;
        let query = UnitQuery {
            limit: Some(limit),
            before: None,
            kind,
            state,
        };
        context.show(&client.units(&query).await?, |page| list(page, context))?;
        return Ok(Exit::DONE);
    };
    let unit = client.unit(&id).await?;
    let invocations = client.invocations(&id, Some(arguments.limit)).await?;
    if context.json {
        print_json(&json!({ "unit": unit, "invocations": invocations }))?;
    } else {
        print(&describe(&unit, &invocations, context))?;
    }
    Ok(Exit::DONE)
}

fn list(page: &Page<UnitStatus>, context: &Context) -> String {
    let mut table = Table::new(&[
        "ID", "KIND", "ACTIVE", "SUB", "RESULT", "RESTARTS", "PID", "NAME", "COMMAND",
    ]);
    for unit in &page.items {
        let tone = Tone::of_active(unit.state.active_state);
        table.row(vec![
            (Tone::Plain, unit.id.to_string()),
            (Tone::Plain, unit.kind.to_string()),
            (tone, unit.state.active_state.to_string()),
            (tone, unit.state.sub_state.to_string()),
            (tone, unit.state.result.to_string()),
            (Tone::Plain, unit.state.restarts.to_string()),
            (
                Tone::Plain,
                unit.state
                    .pid
                    .map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            ),
            (
                Tone::Plain,
                unit.name.clone().unwrap_or_else(|| "-".to_owned()),
            ),
            (Tone::Plain, unit.command.clone()),
        ]);
    }
    table.render(context.style)
}

fn describe(unit: &UnitStatus, invocations: &[Invocation], context: &Context) -> String {
    let state = &unit.state;
    let active = format!("{}/{}", state.active_state, state.sub_state);
    let active = context
        .style
        .paint(Tone::of_active(state.active_state), &active);
    let mut text = Fields::new(format!("{}: {}, {active}", unit.id, unit.kind));
    if let Some(name) = &unit.name {
        text.field("name", name);
    }
    text.field("command", &unit.command);
    text.field("cwd", &unit.cwd);
    text.field("result", state.result.as_str());
    text.field("restarts", state.restarts.to_string());
    if let Some(pid) = state.pid {
        text.field("pid", pid.to_string());
    }
    if let Some(note) = &state.note {
        text.field("note", note);
    }
    let mut table = Table::new(&["INVOCATION", "STARTED", "RUNTIME", "END"]);
    for invocation in invocations {
        let (runtime, end) = match &invocation.exit {
            None => ("-".to_owned(), "-".to_owned()),
            Some(exit) => (
                span::span(std::time::Duration::from_micros(exit.runtime_usec)),
                how(exit.status),
            ),
        };
        let cells = [
            invocation.id.to_string(),
            invocation
                .started_at
                .map_or_else(|| "-".to_owned(), |time| time.to_string()),
            runtime,
            end,
        ];
        table.row(cells.into_iter().map(|cell| (Tone::Plain, cell)).collect());
    }
    text.line("");
    text.into_text() + &table.render(context.style)
}

fn how(status: ExitStatus) -> String {
    match status {
        ExitStatus::Exited(code) => format!("exit {code}"),
        ExitStatus::Signaled { signal, core_dump } => {
            format!("{signal}{}", if core_dump { ", core dumped" } else { "" })
        }
    }
}

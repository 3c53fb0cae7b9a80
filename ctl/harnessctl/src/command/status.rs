//! `harnessctl status`

use std::time::Duration;

use clap::Args;
use harness_model::{HarnessStatus, UnitId};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, fields::Fields, span, style::Tone, task},
};

/// Show how the harness stands, or a task in full
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The task
    id: Option<UnitId>,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    match arguments.id {
        Some(id) => {
            let status = client.task(&id, Duration::ZERO).await?;
            context.show(&status, |status| task::describe(status, context))?;
        }
        None => context.show(&client.status().await?, |status| describe(status, context))?,
    }
    Ok(Exit::DONE)
}

fn describe(status: &HarnessStatus, context: &Context) -> String {
    let age = span::age(status.started_at);
    let tone = if status.state == "running" {
        Tone::Good
    } else {
        Tone::Busy
    };
    let state = context.style.paint(tone, &escape::text(&status.state));
    let mut text = Fields::new(format!(
        "{}: {state} for {age}",
        escape::text(&status.agent)
    ));
    text.field(
        "harnessd",
        format!("{}, pid {}", status.version, status.pid),
    );
    text.field("keeper", keeper(status));
    text.field("workspace", &status.workspace);
    text.field("state", &status.state_directory);
    text.field("sockets", &status.runtime_directory);
    match status.config.as_slice() {
        [] => text.field("config", "none, defaults"),
        files => text.field("config", files.join(", ")),
    }
    let tasks = status.tasks;
    text.field(
        "tasks",
        format!(
            "{} running, {} inactive, {} failed",
            tasks.running, tasks.inactive, tasks.failed
        ),
    );
    text.field("wakes", format!("{} not acknowledged", status.wakes));
    text.field("sessions", status.sessions.to_string());
    if let Some(error) = &status.config_error {
        let refused = format!("reload refused: {}", escape::text(error));
        text.line(&context.style.paint(Tone::Bad, &refused));
    }
    protections(&mut text, status, context);
    text.into_text()
}

fn protections(text: &mut Fields, status: &HarnessStatus, context: &Context) {
    let mut missing = status
        .enforcement
        .iter()
        .filter(|protection| !protection.enforced)
        .peekable();
    if missing.peek().is_none() {
        text.line("every protection is enforced");
        return;
    }
    text.line(&context.style.paint(Tone::Busy, "not enforced here:"));
    for protection in missing {
        text.field(&protection.name, &protection.detail);
    }
}

fn keeper(status: &HarnessStatus) -> String {
    let keeper = &status.keeper;
    if !keeper.connected {
        return "not connected: tasks cannot be started".to_owned();
    }
    let version = keeper.version.as_deref().unwrap_or("unknown version");
    keeper
        .pid
        .map_or_else(|| version.to_owned(), |pid| format!("{version}, pid {pid}"))
}

//! `harnessctl status`

use std::time::Duration;

use clap::Args;
use harness_model::{HarnessStatus, UnitId};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, span, style::Tone},
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
        Some(id) => context.show_task(&client.task(&id, Duration::ZERO).await?)?,
        None => context.show(&client.status().await?, |status| describe(status, context))?,
    }
    Ok(Exit::DONE)
}

fn describe(status: &HarnessStatus, context: &Context) -> String {
    let age = span::span(context.now.since(status.started_at));
    let state = context.style.paint(
        if status.state == "running" {
            Tone::Good
        } else {
            Tone::Busy
        },
        &escape::text(&status.state),
    );
    let mut text = format!("{}: {state} for {age}\n", escape::text(&status.agent));
    let mut line =
        |key: &str, value: &str| text.push_str(&format!("{key:>10}: {}\n", escape::text(value)));
    line(
        "harnessd",
        &format!("{}, pid {}", status.version, status.pid),
    );
    line("keeper", &keeper(status));
    line("workspace", &status.workspace);
    line("state", &status.state_directory);
    line("sockets", &status.runtime_directory);
    let config = if status.config.is_empty() {
        "none, defaults".to_owned()
    } else {
        status.config.join(", ")
    };
    line("config", &config);
    let tasks = status.tasks;
    line(
        "tasks",
        &format!(
            "{} running, {} inactive, {} failed",
            tasks.running, tasks.inactive, tasks.failed
        ),
    );
    line("wakes", &format!("{} not acknowledged", status.wakes));
    line("sessions", &status.sessions.to_string());
    if let Some(error) = &status.config_error {
        text.push_str(&context.style.paint(
            Tone::Bad,
            &format!("reload refused: {}\n", escape::text(error)),
        ));
    }
    let missing: Vec<String> = status
        .enforcement
        .iter()
        .filter(|protection| !protection.enforced)
        .map(|protection| {
            format!(
                "  {}: {}\n",
                escape::text(&protection.name),
                escape::text(&protection.detail)
            )
        })
        .collect();
    if missing.is_empty() {
        text.push_str("every protection is enforced\n");
    } else {
        text.push_str(&context.style.paint(Tone::Busy, "not enforced here:\n"));
        text.extend(missing);
    }
    text
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

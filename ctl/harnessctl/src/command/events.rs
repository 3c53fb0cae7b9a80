//! `harnessctl events`

use clap::Args;
use harness_client::EventMessage;
use harness_model::{ActiveState, CallState, ErrorCode, EventBody, PluginStatus, UnitChange};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, print, print_json_line},
};

/// Print events as they happen, over restarts of the harness
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Begin after this event, as --json shows its id
    #[arg(long, value_name = "ID")]
    since: Option<String>,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let mut events = context.client()?.events(arguments.since).await?;
    loop {
        let message = events.next().await?;
        if context.json {
            let mut line = message.data.clone();
            if let (Some(object), Some(id)) = (line.as_object_mut(), &message.id) {
                object.insert("id".to_owned(), id.as_str().into());
            }
            print_json_line(&line)?;
        } else {
            print(&describe(&message))?;
        }
    }
}

fn describe(message: &EventMessage) -> String {
    let name = escape::text(&message.name);
    match message.event() {
        Some(event) => format!(
            "{} {name:<13} {}\n",
            event.at,
            escape::text(&summary(&event.body))
        ),
        None => format!("{name} {}\n", escape::text(&message.data.to_string())),
    }
}

fn answered(state: CallState, code: Option<ErrorCode>, duration_usec: u64) -> String {
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    format!("{state}{code} after {} ms", duration_usec / 1000)
}

fn unit(change: &UnitChange) -> String {
    format!(
        "{} {} {}/{}, result {}, {} restarts",
        change.kind,
        change.unit,
        change.active_state,
        change.sub_state,
        change.result,
        change.restarts
    )
}

fn summary(body: &EventBody) -> String {
    match body {
        EventBody::ToolCall {
            call,
            front,
            group,
            tool,
            input,
            asked,
            ..
        } => {
            let hooked = asked.as_ref().map_or("", |_| " (rewritten by a hook)");
            format!("{call} {group}.{tool} over {front}{hooked}: {input}")
        }
        EventBody::ToolResult {
            call,
            state,
            code,
            duration_usec,
        } => {
            format!("{call} {}", answered(*state, *code, *duration_usec))
        }
        EventBody::NestedCall {
            call,
            command,
            input,
            state,
            code,
            duration_usec,
            ..
        } => {
            let answered = answered(*state, *code, *duration_usec);
            format!("{call} {command} {answered}: {input}")
        }
        EventBody::ShellOutput {
            unit,
            stream,
            delta,
            ..
        } => format!("{unit} {stream}: {delta}"),
        EventBody::ApprovalRequested(approval) => {
            let input = serde_json::Value::Object(approval.input.clone());
            let (group, tool) = (&approval.group, &approval.tool);
            format!(
                "{} for {group}.{tool} ({}): {input}",
                approval.id, approval.rule
            )
        }
        EventBody::ApprovalResolved {
            approval,
            state,
            answered_by,
        } => {
            let by = answered_by.as_ref().map(|by| format!(" by {by}"));
            format!("{approval} {state}{}", by.unwrap_or_default())
        }
        EventBody::PluginChanged(plugin) => plugin_change(plugin),
        EventBody::UnitChanged(change) => unit(change),
        EventBody::Wake(wake) => format!("{} {}: {}", wake.id, wake.from, wake.status),
        EventBody::Dropped { count } => format!("{count} events are missing here"),
    }
}

fn plugin_change(plugin: &PluginStatus) -> String {
    let PluginStatus {
        name,
        active_state,
        tools,
        ..
    } = plugin;
    let why = plugin.last_error.as_ref();
    let why = why.filter(|_| *active_state != ActiveState::Active);
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    format!("{name} {active_state}, {tools} tools{why}")
}

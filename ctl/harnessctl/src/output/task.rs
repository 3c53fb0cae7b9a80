//! A task, for people.

use harness_model::{Page, StreamStatus, TaskState, TaskStatus};

use crate::{
    context::Context,
    output::{escape, fields::Fields, span, style::Tone, table::Table},
};

/// How a task ended, in one word: an exit code, a signal, or a dash.
pub(crate) fn exit(status: &TaskStatus) -> String {
    match (status.exit_code, status.signal) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => signal.to_string(),
        (None, None) => "-".to_owned(),
    }
}

/// A list of tasks.
pub(crate) fn list(page: &Page<TaskStatus>, context: &Context) -> String {
    let mut table = Table::new(&["ID", "STATE", "EXIT", "AGE", "DURATION", "NAME", "COMMAND"]);
    for status in &page.items {
        let age = status.started_at.map(span::age);
        let tone = Tone::of_task(status);
        table.row(vec![
            (Tone::Plain, status.id.to_string()),
            (tone, status.status.to_string()),
            (tone, exit(status)),
            (Tone::Plain, age.unwrap_or_else(|| "-".to_owned())),
            (Tone::Plain, span::seconds(status.duration_secs)),
            (
                Tone::Plain,
                status.name.clone().unwrap_or_else(|| "-".to_owned()),
            ),
            (Tone::Plain, status.cmd.clone()),
        ]);
    }
    table.render(context.style)
}

/// Everything there is to say of one task.
pub(crate) fn describe(status: &TaskStatus, context: &Context) -> String {
    let mut text = Fields::new(headline(status, context));
    text.field("command", &status.cmd);
    text.field("result", status.result.as_str());
    if let Some(start) = status.started_at {
        let age = span::age(start);
        text.field("started", format!("{start} ({age} ago)"));
    }
    text.field("duration", span::seconds(status.duration_secs));
    if status.restarts > 0 {
        text.field("restarts", status.restarts.to_string());
    }
    if let Some(usage) = status.usage {
        let cpu =
            std::time::Duration::from_micros(usage.user_usec.saturating_add(usage.system_usec));
        text.field(
            "used",
            format!(
                "{} CPU, {} memory",
                span::span(cpu),
                span::size(usage.max_rss_bytes)
            ),
        );
    }
    if let Some(count) = status.left_over {
        text.field("left over", format!("{count} processes, ended with it"));
    }
    if !status.survivors.is_empty() {
        text.field("survivors", status.survivors.join(", "));
    }
    if let Some(note) = &status.note {
        text.field("note", note);
    }
    if let Some(rules) = &status.containment {
        text.field("sandbox", rules);
    }
    stream(&mut text, "stdout", &status.stdout);
    stream(&mut text, "stderr", &status.stderr);
    text.into_text()
}

/// A task in one line.
pub(crate) fn headline(status: &TaskStatus, context: &Context) -> String {
    let name = status
        .name
        .as_ref()
        .map(|name| format!(" ({})", escape::text(name)))
        .unwrap_or_default();
    let ended = match status.status {
        TaskState::Pending | TaskState::Running => {
            format!("{}/{}", status.active_state, status.sub_state)
        }
        TaskState::Done | TaskState::TimedOut | TaskState::Interrupted | TaskState::Stopped => {
            match (status.exit_code, status.signal) {
                (Some(code), _) => format!("exit {code}"),
                (None, Some(signal)) => format!("ended by {signal}"),
                (None, None) => format!("result {}", status.result),
            }
        }
    };
    let state = context
        .style
        .paint(Tone::of_task(status), status.status.as_str());
    format!("{}{name}: {state}, {ended}", status.id)
}

fn stream(text: &mut Fields, name: &str, status: &StreamStatus) {
    let gap = status
        .gap
        .map(|gap| format!(", {} of it freed", span::size(gap.length)))
        .unwrap_or_default();
    text.field(
        name,
        format!("{} in {}{gap}", span::size(status.bytes), status.path),
    );
    text.quote(&status.tail);
}

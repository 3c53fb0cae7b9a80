//! `harnessctl tools`

use std::fmt::Write as _;

use clap::Args;
use harness_model::{Annotations, Tool};
use serde_json::Value;

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, style::Tone, table::Table},
};

/// List the tools, or describe one
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    /// The tool to describe: GROUP__TOOL, or its name alone where only one group has it
    name: Option<String>,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    if let Some(name) = &arguments.name {
        context.show(&client.tool(name).await?, describe)?;
    } else {
        context.show(&client.tools().await?, |tools| list(tools, context))?;
    }
    Ok(Exit::DONE)
}

fn list(tools: &[Tool], context: &Context) -> String {
    let mut table = Table::new(&["TOOL", "ACCESS", "DESCRIPTION"]);
    for tool in tools {
        table.row(vec![
            (Tone::Plain, full_name(tool)),
            (Tone::Plain, access(tool.annotations)),
            (Tone::Plain, first_sentence(&tool.description)),
        ]);
    }
    table.render(context.style)
}

fn full_name(tool: &Tool) -> String {
    format!("{}__{}", tool.group, tool.name)
}

fn first_sentence(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ")
        .map_or_else(|| line.to_owned(), |(first, _)| format!("{first}."))
}

/// What the tool's author says of it, in words.
fn access(annotations: Annotations) -> String {
    let mut words = Vec::new();
    match (annotations.read_only_hint, annotations.destructive_hint) {
        (Some(true), _) => words.push("read-only"),
        (_, Some(true)) => words.push("destructive"),
        (Some(false), _) => words.push("changes"),
        (None, Some(false) | None) => {}
    }
    if annotations.open_world_hint == Some(true) {
        words.push("open-world");
    }
    if words.is_empty() {
        words.push("-");
    }
    words.join(", ")
}

fn describe(tool: &Tool) -> String {
    let mut text = format!("{}\n", tool.signature());
    let mut field = |name: &str, value: &str| {
        let _infallible = writeln!(text, "{name:<8}{value}");
    };
    field("tool", &full_name(tool));
    if let Some(title) = &tool.title {
        field("title", title);
    }
    field("access", &access(tool.annotations));
    let _infallible = write!(text, "\n{}\n", tool.description);
    let parameters: Vec<_> = tool.input_schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .collect();
    let width = parameters.iter().map(|(name, _)| name.len()).max();
    if let Some(width) = width {
        text.push('\n');
        for (name, schema) in parameters {
            let description = schema["description"].as_str().unwrap_or_default();
            let range = range(schema);
            let _infallible = writeln!(text, "  {name:<width$}  {description}{range}");
        }
    }
    escape::lines(&text)
}

/// The bounds of a number, where the schema has some.
fn range(schema: &Value) -> String {
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => String::new(),
        (least, Value::Null) => format!(" ({least} or more)"),
        (Value::Null, most) => format!(" (at most {most})"),
        (least, most) => format!(" ({least} to {most})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_says_what_the_author_said_and_nothing_more() {
        let annotations = |read_only_hint, destructive_hint, open_world_hint| Annotations {
            read_only_hint,
            destructive_hint,
            open_world_hint,
            idempotent_hint: None,
        };
        for (annotations, expected) in [
            (annotations(Some(true), None, Some(false)), "read-only"),
            (
                annotations(Some(true), None, Some(true)),
                "read-only, open-world",
            ),
            (
                annotations(Some(false), Some(true), Some(true)),
                "destructive, open-world",
            ),
            (annotations(Some(false), Some(false), None), "changes"),
            (annotations(None, None, None), "-"),
        ] {
            assert_eq!(access(annotations), expected);
        }
    }

    #[test]
    fn a_list_shows_the_first_sentence() {
        assert_eq!(first_sentence("Run it. Then wait."), "Run it.");
        assert_eq!(first_sentence("Run it.\nMore"), "Run it.");
        assert_eq!(first_sentence(""), "");
    }
}

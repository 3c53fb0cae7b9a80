//! `harnessctl explain`

use clap::Args;
use harness_model::{Explanation, Scope};
use serde_json::{Map, Value};

use crate::{
    context::Context,
    error::{Error, Result},
    exit::Exit,
    output::fields::Fields,
};

/// Say which rule would let a call through, ask you or refuse it, and what would change that; runs nothing
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    /// The tool: GROUP__TOOL, or a name that only one group has
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Its input as a JSON object; for a shell, the command itself will do
    #[arg(value_name = "INPUT", default_value = "{}")]
    input: String,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let input = input(&arguments.input)?;
    let explanation = context.client()?.explain(&arguments.tool, &input).await?;
    context.show(&explanation, describe)?;
    Ok(Exit::DONE)
}

/// What does not begin like an object is a command.
fn input(text: &str) -> Result<Map<String, Value>> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|source| Error::Input { source });
    }
    let mut input = Map::new();
    input.insert("cmd".to_owned(), Value::String(text.to_owned()));
    Ok(input)
}

fn describe(explanation: &Explanation) -> String {
    let why = explanation
        .why
        .as_ref()
        .map(|why| format!(" ({why})"))
        .unwrap_or_default();
    let mut text = Fields::new(format!("{}{why}", explanation.decision));
    for rule in &explanation.rules {
        text.field(&rule.decision, format!("{} {}", rule.layer, rule.rule));
        text.field("to change", &rule.remedy);
    }
    for hook in &explanation.hooks {
        let (number, command) = (hook.number, hook.command.join(" "));
        let (event, on_error) = (&hook.event, &hook.on_error);
        let what = format!("{event}: {command} (not run now; on_error = {on_error:?})");
        text.field(&format!("hook {number}"), what);
    }
    scope(&explanation.scope, &mut text);
    if let Some(rules) = &explanation.sandbox {
        // A script that an allowlist let through, and that runs what runs others.
        if rules.allowlist.is_some() && rules.executable.is_none() {
            text.field(
                "execute",
                "anything: a command of it runs other programs, or execute names *",
            );
        }
        for path in rules.executable.iter().flatten() {
            text.field("execute", path);
        }
        if let Some(words) = rules.containment() {
            text.field("sandbox", words);
        }
    }
    text.into_text()
}

fn scope(of: &Scope, text: &mut Fields) {
    match of {
        Scope::Tool => {}
        Scope::Commands(commands) => text.field("commands", commands.join(" | ")),
        Scope::Text(_) => text.field("commands", "cannot all be read from the text"),
        Scope::Sandbox {
            opened,
            scope: inner,
        } => {
            scope(inner, text);
            text.field("opens", format!("asks to {opened}"));
        }
    }
}

//! `harnessctl call`

use std::io::Read as _;

use clap::Args;
use harness_model::{Content, ToolOutput};
use serde_json::{Map, Value};

use crate::{
    context::Context,
    error::{Error, Result},
    exit::Exit,
    output::{escape, print, print_json},
};

/// Call a tool through the gate and print its result
#[derive(Debug, Args)]
#[command(after_help = "\
A value is JSON unless the tool's schema says that it is text:
  harnessctl call bash__list limit=5
  harnessctl call shell '{\"cmd\": \"make\"}' timeoutMs=60000
  echo '{\"cmd\": \"make\"}' | harnessctl call run - wait_seconds=0")]
pub(crate) struct Arguments {
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    /// The tool: GROUP__TOOL, or its name alone where only one group has it
    #[arg(value_name = "TOOL")]
    tool: String,
    /// A JSON object, - for one on standard input, and KEY=VALUE over it
    #[arg(value_name = "INPUT")]
    input: Vec<String>,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let schema = if arguments.input.iter().any(|word| is_pair(word)) {
        client.tool(&arguments.tool).await?.input_schema
    } else {
        Value::Null
    };
    let mut input = Map::new();
    for word in &arguments.input {
        input.extend(read(word, &schema)?);
    }
    let output = client.call(&arguments.tool, &input, None).await?;
    if context.json {
        print_json(&output)?;
    } else {
        print(&text(&output, context.style.terminal))?;
    }
    Ok(Exit::DONE)
}

fn is_pair(word: &str) -> bool {
    word != "-" && !word.trim_start().starts_with('{')
}

/// What one word says of the input.
fn read(word: &str, schema: &Value) -> Result<Map<String, Value>> {
    if word == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return object(&text);
    }
    if !is_pair(word) {
        return object(word);
    }
    let pair = word.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, text) = pair.ok_or_else(|| Error::InputSyntax {
        word: word.to_owned(),
    })?;
    let value = if takes_text(&schema["properties"][key]) {
        Value::String(text.to_owned())
    } else {
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
    };
    Ok(Map::from_iter([(key.to_owned(), value)]))
}

fn object(text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text).map_err(|source| Error::InputJson { source })
}

/// Whether a property is text, and nothing else but null.
fn takes_text(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(name) => name == "string",
        Value::Array(names) => {
            let mut names = names.iter().filter(|name| *name != "null").peekable();
            names.peek().is_some() && names.all(|name| name == "string")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Text as it is into a file or pipe, escaped onto a terminal; other content as JSON, a line each.
fn text(output: &ToolOutput, terminal: bool) -> String {
    let mut text = String::new();
    for content in &output.content {
        match content {
            Content::Text { text: one } if terminal => text.push_str(&escape::lines(one)),
            Content::Text { text: one } => text.push_str(one),
            Content::Other(value) => text.push_str(&value.to_string()),
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_json_unless_the_schema_says_text() {
        let schema = json!({"properties": {
            "cmd": {"type": "string"}, "name": {"type": ["string", "null"]}, "n": {"type": "integer"},
            "either": {"type": ["string", "integer"]},
        }});
        for (word, expected) in [
            ("cmd=5", json!({"cmd": "5"})),
            ("cmd=a=b", json!({"cmd": "a=b"})),
            ("cmd=", json!({"cmd": ""})),
            ("name=null", json!({"name": "null"})),
            ("n=5", json!({"n": 5})),
            ("n=five", json!({"n": "five"})),
            ("either=5", json!({"either": 5})),
            ("unknown=[1]", json!({"unknown": [1]})),
            (r#"{"cmd":"x"}"#, json!({"cmd": "x"})),
        ] {
            assert_eq!(
                Value::Object(read(word, &schema).unwrap()),
                expected,
                "{word}"
            );
        }
    }

    #[test]
    fn what_is_no_input_is_a_usage_error() {
        for word in ["word", "=x", "{", "{}x", "[1]"] {
            assert_eq!(
                read(word, &Value::Null).unwrap_err().exit(),
                Exit::USAGE,
                "{word}"
            );
        }
    }
}

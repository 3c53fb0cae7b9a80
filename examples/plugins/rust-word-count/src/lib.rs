//! A plugin with one tool. Build it with `cargo build --package word-count`.

use harness_plugin_sdk::{Call, Error, Json, Plugin, Result, Tool, export};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file whose words are counted.
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct Counts {
    lines: usize,
    words: usize,
    characters: usize,
}

fn count(input: Input, _call: &Call) -> Result<Json<Counts>> {
    let read = std::fs::read_to_string(&input.path);
    let text = read.map_err(|error| Error::from(error).context(input.path))?;
    Ok(Json(Counts {
        lines: text.lines().count(),
        words: text.split_whitespace().count(),
        characters: text.chars().count(),
    }))
}

export!(
    Plugin::new("word-count", env!("CARGO_PKG_VERSION"))
        .tool(Tool::new("count", "Counts the words of a text file.", count).read_only())
);

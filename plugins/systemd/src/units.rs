//! `list`

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{error::Error, manager::Manager};

/// Which units.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct List {
    /// Globs for their names, as in nginx* or *.timer; all if it is not said.
    patterns: Vec<String>,
    /// Only those in one of these states: failed, active, inactive, running, exited, …
    states: Vec<String>,
    /// Those that are loaded and inactive, too.
    all: bool,
    /// How many at most; 500 if it is not said.
    #[schemars(range(min = 1, max = 5000))]
    limit: Option<usize>,
}

/// A unit, as `systemctl list-units` has it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Listed {
    /// Its name.
    unit: String,
    /// Whether its file could be read: loaded, not-found, masked, …
    load: String,
    /// Its active state.
    active: String,
    /// Its sub-state.
    sub: String,
    /// What it is.
    description: String,
}

/// All of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// In the order of their names.
    units: Vec<Listed>,
    /// There are more.
    truncated: bool,
}

pub(crate) fn list(input: List, call: &Call<Manager>) -> Result<(String, Json<Listing>)> {
    for pattern in &input.patterns {
        let letter = |c: char| c.is_ascii_alphanumeric() || ":-_.\\@*?[]".contains(c);
        if pattern.starts_with('-') || !pattern.chars().all(letter) {
            let (what, value) = ("glob for names of units", pattern.clone());
            return Err(Error::Value { what, value }.into());
        }
    }
    for state in &input.states {
        if state.is_empty() || !state.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
            let (what, value) = ("state of a unit", state.clone());
            return Err(Error::Value { what, value }.into());
        }
    }
    let mut program = call.state().systemctl();
    program = program
        .args(["list-units", "--output=json"])
        .output_max(8 * 1024 * 1024);
    if input.all {
        program = program.args(["--all"]);
    }
    if !input.states.is_empty() {
        program = program.args([format!("--state={}", input.states.join(","))]);
    }
    let output = program.args(["--"]).args(&input.patterns).succeed(call)?;
    let mut units: Vec<Listed> =
        serde_json::from_slice(&output.stdout).map_err(|source| Error::Output {
            program: "systemctl",
            source,
        })?;
    let limit = input.limit.unwrap_or(500);
    let truncated = units.len() > limit;
    units.truncate(limit);
    let mut lines: Vec<String> = units.iter().map(line).collect();
    if truncated {
        lines.push("[there are more: narrow it down, or raise the limit]".to_owned());
    }
    if lines.is_empty() {
        lines.push("[no unit]".to_owned());
    }
    Ok((lines.join("\n"), Json(Listing { units, truncated })))
}

fn line(unit: &Listed) -> String {
    let Listed {
        unit,
        load,
        active,
        sub,
        description,
    } = unit;
    let load = if load == "loaded" {
        String::new()
    } else {
        format!(" [{load}]")
    };
    format!("{unit}: {active} ({sub}){load}, {description}")
}

//! `search`

use std::collections::BTreeMap;

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    program::{Nix, building, json, reference},
};

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// Regular expressions that all have to match the name or the description.
    #[schemars(length(min = 1, max = 20))]
    words: Vec<String>,
    /// The flake, as in `nixpkgs` or `github:owner/name`; nixpkgs, or what the settings say, if it is not said.
    #[serde(default)]
    flake: Option<String>,
    /// How many at most; 50 if it is not said.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

/// A package.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Package {
    /// Its attribute in the flake.
    attribute: String,
    /// Its name.
    name: String,
    /// Its version.
    version: String,
    /// What it is.
    description: String,
}

/// All of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Packages {
    /// In the order of their attributes.
    packages: Vec<Package>,
    /// How many there are, those that are left out included.
    found: usize,
}

/// A package as `nix search` has it.
#[derive(Debug, Deserialize)]
struct Found {
    pname: String,
    version: String,
    description: String,
}

pub(crate) fn search(input: Search, call: &Call<Nix>) -> Result<(String, Json<Packages>)> {
    let flake = input.flake.as_deref().unwrap_or(call.state().nixpkgs());
    let mut program = call.state().command(&["search", "--json"]);
    program = program
        .args([reference(flake, "flake")?])
        .output_max(64 * 1024 * 1024);
    for word in &input.words {
        program = program.args([reference(word, "regular expression")?]);
    }
    let (value, _) = json(building(program, false), call)?;
    let all: BTreeMap<String, Found> = serde_json::from_value(value).map_err(Error::Output)?;
    let found = all.len();
    let packages: Vec<Package> = all
        .into_iter()
        .take(input.limit.unwrap_or(50))
        .map(|(attribute, found)| Package {
            attribute,
            name: found.pname,
            version: found.version,
            description: found.description,
        })
        .collect();
    let mut lines: Vec<String> = packages.iter().map(line).collect();
    match found - packages.len() {
        0 if found == 0 => lines.push("[no package]".to_owned()),
        0 => {}
        more => lines.push(format!("[{more} more: narrow it down, or raise the limit]")),
    }
    Ok((lines.join("\n"), Json(Packages { packages, found })))
}

fn line(package: &Package) -> String {
    let Package {
        attribute,
        name,
        version,
        description,
    } = package;
    format!("{attribute}: {name} {version}, {description}")
}

//! `flake_metadata` and `flake_show`

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::program::{Nix, building, json, reference};

/// Which flake.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flake {
    /// As in `nixpkgs`, `github:owner/name` or `path:/srv/project`; that of the directory the plugin runs in
    /// if it is not said.
    #[serde(default)]
    flake: Option<String>,
}

/// What Nix says of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Told {
    /// As Nix has it.
    flake: Value,
}

pub(crate) fn metadata(input: Flake, call: &Call<Nix>) -> Result<(String, Json<Told>)> {
    ask(&["flake", "metadata", "--json"], &input, call)
}

pub(crate) fn show(input: Flake, call: &Call<Nix>) -> Result<(String, Json<Told>)> {
    ask(&["flake", "show", "--json"], &input, call)
}

fn ask(words: &[&str], input: &Flake, call: &Call<Nix>) -> Result<(String, Json<Told>)> {
    let flake = reference(input.flake.as_deref().unwrap_or("."), "flake")?;
    let program = call.state().command(words).args([flake]);
    let (flake, _) = json(building(program, false), call)?;
    let text = serde_json::to_string_pretty(&flake)?;
    Ok((text, Json(Told { flake })))
}

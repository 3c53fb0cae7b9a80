//! `build`

use std::collections::BTreeMap;

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    eval::source,
    program::{Nix, json},
};

/// What to build.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Build {
    /// An attribute of a flake, as in .#hello. Either this or an expression.
    installable: Option<String>,
    /// A Nix expression that gives a derivation.
    expression: Option<String>,
    /// It may depend on the environment, the time and files outside of flakes.
    impure: bool,
}

/// One derivation.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Built {
    /// Its path.
    #[serde(rename(deserialize = "drvPath"))]
    derivation: Option<String>,
    /// The paths of its outputs by their names.
    outputs: BTreeMap<String, String>,
}

/// What was built.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Results {
    /// In the order of what was asked for.
    built: Vec<Built>,
    /// The end of what the builds said.
    log: String,
}

pub(crate) fn build(input: Build, call: &Call<Nix>) -> Result<(String, Json<Results>)> {
    let nix = call.state();
    let mut program = nix.command(&["build", "--json", "--no-link", "--print-build-logs"]);
    program = source(
        program,
        input.expression.as_deref(),
        input.installable.as_deref(),
    )?;
    if input.impure {
        program = program.args(["--impure"]);
    }
    let (value, log) = json(program.time_limit(nix.build_timeout()), call)?;
    let built: Vec<Built> = serde_json::from_value(value).map_err(Error::Output)?;
    let paths = built.iter().flat_map(|one| one.outputs.values().cloned());
    let text = paths.collect::<Vec<_>>().join("\n");
    Ok((text, Json(Results { built, log })))
}

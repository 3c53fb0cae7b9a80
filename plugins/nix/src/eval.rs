//! `eval`

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::Error,
    program::{Nix, building, json, reference},
};

/// What to evaluate.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Eval {
    /// A Nix expression. Either this or an installable.
    expression: Option<String>,
    /// An attribute of a flake, as in .#packages.x86_64-linux.hello.version.
    installable: Option<String>,
    /// A function that is applied to it, as in builtins.attrNames.
    apply: Option<String>,
    /// It may depend on the environment, the time and files outside of flakes.
    impure: bool,
    /// It may build what it needs to go on (import from derivation).
    allow_building: bool,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Evaluated {
    /// As JSON.
    value: Value,
}

pub(crate) fn eval(input: Eval, call: &Call<Nix>) -> Result<(String, Json<Evaluated>)> {
    let mut program = call.state().command(&["eval", "--json"]);
    program = source(
        program,
        input.expression.as_deref(),
        input.installable.as_deref(),
    )?;
    if let Some(apply) = &input.apply {
        program = program.args(["--apply", apply]);
    }
    if input.impure {
        program = program.args(["--impure"]);
    }
    let (value, _) = json(building(program, input.allow_building), call)?;
    Ok((value.to_string(), Json(Evaluated { value })))
}

/// The one of both that is given.
pub(crate) fn source(
    program: harness_plugin_sdk::Program,
    expression: Option<&str>,
    installable: Option<&str>,
) -> std::result::Result<harness_plugin_sdk::Program, Error> {
    match (expression, installable) {
        (Some(expression), None) => Ok(program.args(["--expr", expression])),
        (None, Some(installable)) => Ok(program.args([reference(installable, "installable")?])),
        (Some(_), Some(_)) | (None, None) => Err(Error::Source),
    }
}

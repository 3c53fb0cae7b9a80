//! `status`, `show` and `cat`

use std::collections::BTreeMap;

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{error::Error, logs, manager::Manager, unit_name};

/// What `status` tells, as systemd names it (org.freedesktop.systemd1(5)).
const STATUS: &str = "Id,Description,LoadState,LoadError,ActiveState,SubState,Result,UnitFileState,MainPID,ExecMainCode,\
    ExecMainStatus,NRestarts,InvocationID,ActiveEnterTimestamp,InactiveEnterTimestamp,MemoryCurrent,TasksCurrent,\
    CPUUsageNSec,FragmentPath,DropInPaths,TriggeredBy,Triggers,NextElapseUSecRealtime,Listen,NeedDaemonReload,StatusText";

/// The longest value of a property that is shown, in bytes.
const VALUE_MAX: usize = 4096;

/// Which unit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status {
    /// Its name, as in nginx.service, or nginx for short.
    unit: String,
    /// How many of its last log lines; 10 if it is not said.
    #[serde(default)]
    #[schemars(range(max = 200))]
    lines: Option<u32>,
}

/// Which properties of which unit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Show {
    /// Its name, as in nginx.service, or nginx for short.
    unit: String,
    /// Their names, as in `ActiveState`; all if it is not said.
    #[serde(default)]
    properties: Vec<String>,
}

/// Which unit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cat {
    /// Its name, as in nginx.service, or nginx for short.
    unit: String,
}

/// Properties by their names.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Properties {
    /// As systemd writes them.
    pub(crate) properties: BTreeMap<String, String>,
}

/// How a unit is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Told {
    /// Its properties, those that say something.
    properties: BTreeMap<String, String>,
    /// Its last log lines.
    logs: Vec<logs::Entry>,
}

pub(crate) fn status(input: Status, call: &Call<Manager>) -> Result<(String, Json<Told>)> {
    let unit = unit_name::full(&input.unit)?;
    let properties = properties(call, &unit, &[STATUS.to_owned()])?;
    let logs = logs::of_unit(call, &unit, input.lines.unwrap_or(10))?;
    let mut text = text(&properties);
    if !logs.is_empty() {
        text = format!("{text}\n\n{}", logs::text(&logs));
    }
    Ok((text, Json(Told { properties, logs })))
}

pub(crate) fn show(input: Show, call: &Call<Manager>) -> Result<(String, Json<Properties>)> {
    let unit = unit_name::full(&input.unit)?;
    for name in &input.properties {
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            let (what, value) = ("name of a property", name.clone());
            return Err(Error::Value { what, value }.into());
        }
    }
    let mut asked = input.properties;
    if !asked.is_empty() {
        asked.push("LoadState".to_owned());
    }
    let properties = properties(call, &unit, &asked)?;
    Ok((text(&properties), Json(Properties { properties })))
}

pub(crate) fn cat(input: Cat, call: &Call<Manager>) -> Result<String> {
    let unit = unit_name::full(&input.unit)?;
    properties(call, &unit, &["LoadState".to_owned()])?;
    let output = call
        .state()
        .systemctl()
        .args(["cat", "--", &unit])
        .succeed(call)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The properties of a unit that is there; those that are not set are left out.
pub(crate) fn properties(
    call: &Call<Manager>,
    unit: &str,
    asked: &[String],
) -> Result<BTreeMap<String, String>> {
    let mut program = call.state().systemctl().args(["show"]);
    if !asked.is_empty() {
        program = program.args([format!("--property={}", asked.join(","))]);
    }
    let output = program.args(["--", unit]).succeed(call)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let unset = ["", "[not set]", "18446744073709551615", "n/a"];
    let properties: BTreeMap<String, String> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(_, value)| !unset.contains(value))
        .map(|(name, value)| {
            let end = value.floor_char_boundary(VALUE_MAX);
            (name.to_owned(), value[..end].to_owned())
        })
        .collect();
    if properties
        .get("LoadState")
        .is_some_and(|state| state == "not-found")
    {
        let name = unit.to_owned();
        return Err(Error::NotFound { name }.into());
    }
    Ok(properties)
}

pub(crate) fn text(properties: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = properties
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    lines.join("\n")
}

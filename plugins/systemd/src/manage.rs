//! `start`, `stop`, `restart` and `reload`

use std::collections::BTreeMap;

use harness_plugin_sdk::{Call, Error as Failure, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{logs, manager::Manager, status, unit_name};

/// Which units.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Units {
    /// Their names, as in nginx.service, or nginx for short.
    #[schemars(length(min = 1, max = 50))]
    units: Vec<String>,
}

/// What has become of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct States {
    /// By name.
    units: BTreeMap<String, Condition>,
}

/// What a unit is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Condition {
    active_state: String,
    sub_state: String,
    /// How it last ended, or success.
    result: String,
}

pub(crate) fn start(input: Units, call: &Call<Manager>) -> Result<(String, Json<States>)> {
    run("start", &input, call)
}

pub(crate) fn stop(input: Units, call: &Call<Manager>) -> Result<(String, Json<States>)> {
    run("stop", &input, call)
}

pub(crate) fn restart(input: Units, call: &Call<Manager>) -> Result<(String, Json<States>)> {
    run("restart", &input, call)
}

pub(crate) fn reload(input: Units, call: &Call<Manager>) -> Result<(String, Json<States>)> {
    run("reload", &input, call)
}

/// Nothing is done unless all of them are there and may be changed.
fn run(verb: &str, input: &Units, call: &Call<Manager>) -> Result<(String, Json<States>)> {
    let manager = call.state();
    let units: Vec<String> = input
        .units
        .iter()
        .map(|unit| unit_name::full(unit))
        .collect::<std::result::Result<_, _>>()?;
    for unit in &units {
        manager.may_change(unit)?;
        status::properties(call, unit, &["LoadState".to_owned()])?;
    }
    let program = manager.systemctl().time_limit(manager.job_timeout());
    let finished = program.args([verb, "--"]).args(&units).run(call)?;
    let states = states(call, &units)?;
    if finished.status.success() {
        return Ok((text(&states), Json(States { units: states })));
    }
    let mut message = format!(
        "{verb} failed: {}\n{}",
        finished.stderr.trim(),
        text(&states)
    );
    for (unit, _) in states
        .iter()
        .filter(|(_, state)| state.active_state == "failed")
    {
        let logs = logs::of_unit(call, unit, 10)?;
        message = format!("{message}\n\n{}", logs::text(&logs));
    }
    Err(Failure::new(message))
}

fn states(call: &Call<Manager>, units: &[String]) -> Result<BTreeMap<String, Condition>> {
    let asked = ["ActiveState,SubState,Result".to_owned()];
    let mut states = BTreeMap::new();
    for unit in units {
        let mut properties = status::properties(call, unit, &asked)?;
        let mut take = |name: &str| properties.remove(name).unwrap_or_default();
        let state = Condition {
            active_state: take("ActiveState"),
            sub_state: take("SubState"),
            result: take("Result"),
        };
        states.insert(unit.clone(), state);
    }
    Ok(states)
}

fn text(states: &BTreeMap<String, Condition>) -> String {
    let lines: Vec<String> = states
        .iter()
        .map(|(unit, state)| {
            let Condition {
                active_state,
                sub_state,
                result,
            } = state;
            let result = if matches!(result.as_str(), "" | "success") {
                String::new()
            } else {
                format!(", {result}")
            };
            format!("{unit}: {active_state} ({sub_state}){result}")
        })
        .collect();
    lines.join("\n")
}

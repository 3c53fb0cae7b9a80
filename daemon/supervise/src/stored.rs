//! Units as an older daemon recorded them.

use std::path::PathBuf;

use harness_model::{NewUnit, SandboxRules, UnitId, UnitPolicy, UnitSettings};

use crate::{OutputFiles, UnitSpec};

/// The spec of a recorded unit. One that cannot be read any more still names the unit, so that its
/// process can be watched and stopped; it cannot be started from it.
pub(crate) fn spec(unit: &NewUnit) -> UnitSpec {
    serde_json::from_str(&unit.spec).unwrap_or_else(|error| {
        tracing::error!(unit = %unit.id, %error, "the recorded spec cannot be read");
        UnitSpec {
            kind: unit.kind,
            call: None,
            name: unit.name.clone(),
            command: unit.command.clone(),
            argv: Vec::new(),
            environment: Vec::new(),
            cwd: PathBuf::from(&unit.cwd),
            settings: unit.settings.clone(),
            output: OutputFiles {
                stdout: PathBuf::new(),
                stderr: PathBuf::new(),
                max_bytes: 0,
            },
            stdin: None,
            sandbox: SandboxRules::default(),
        }
    })
}

/// Its policy; systemd's defaults when its keys do not fit together any more.
pub(crate) fn policy(unit: &UnitId, spec: &UnitSpec) -> UnitPolicy {
    spec.settings.resolve().unwrap_or_else(|error| {
        tracing::error!(%unit, %error, "the recorded settings cannot be used");
        defaults()
    })
}

fn defaults() -> UnitPolicy {
    match UnitSettings::default().resolve() {
        Ok(policy) => policy,
        Err(error) => unreachable!("the defaults fit together: {error}"),
    }
}

//! `[turn]`: one agent turn when wakes are due.

use std::sync::Arc;

use harness_model::{ExitStatus, UnitId, UnitKind, Wake, WakeId};
use harness_supervise::{OutputFiles, UnitHandle, UnitSpec};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::{
    config::{VariableMap, schema::Turn},
    harness::Harness,
};

/// How many wakes one turn is given.
const MOST: u32 = 100;

/// What the turn command reads on its standard input.
#[derive(Debug, Serialize, Deserialize)]
struct TurnInput {
    wakes: Vec<Wake>,
}

/// Runs turns, one at a time, for as long as the harness lives.
///
/// `going` is a turn that a former daemon started and that was found alive.
pub(crate) async fn run(harness: Arc<Harness>, mut going: Option<UnitHandle>) {
    let mut changes = harness.reconfigured();
    loop {
        let next = harness.wakes().next();
        let turn = match going.take() {
            Some(turn) => Some(turn),
            None => begin(&harness).await,
        };
        let carried_out = match turn {
            Some(turn) => {
                turn.wait_end().await;
                conclude(&harness, &turn).await
            }
            None => false,
        };
        // Nothing is due, no turn is configured, or its restart policy has given up: a new wake or a
        // new configuration is the next occasion.
        if !carried_out {
            tokio::select! {
                () = next => {}
                () = reconfigured(&mut changes) => {}
            }
        }
    }
}

async fn reconfigured(changes: &mut watch::Receiver<()>) {
    if changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Acknowledges what the turn was given, if it exited with 0.
async fn conclude(harness: &Harness, turn: &UnitHandle) -> bool {
    let exit = turn.state().exit.map(|exit| exit.status);
    if exit != Some(ExitStatus::Exited(0)) {
        tracing::warn!(unit = %turn.id(), ?exit, "the turn failed, so its wakes stay due");
        return false;
    }
    let input = turn
        .spec()
        .stdin
        .as_deref()
        .map(serde_json::from_str::<TurnInput>);
    let ids: Vec<WakeId> = match input {
        Some(Ok(input)) => input.wakes.iter().map(|wake| wake.id).collect(),
        Some(Err(_)) | None => Vec::new(),
    };
    match harness.record().wakes_ack(&ids).await {
        Ok(_) => true,
        Err(error) => {
            tracing::error!(%error, "the turn's wakes cannot be acknowledged, so they stay due");
            false
        }
    }
}

async fn begin(harness: &Harness) -> Option<UnitHandle> {
    let in_force = harness.in_force();
    let turn = in_force.loaded.config.turn.as_ref()?;
    let wakes = match harness.record().wakes_take(MOST).await {
        Ok(wakes) if wakes.is_empty() => return None,
        Ok(wakes) => wakes,
        Err(error) => {
            tracing::error!(%error, "wakes cannot be read, so no turn is started");
            return None;
        }
    };
    let id = UnitId::generate();
    let directory = harness.turns();
    let spec = UnitSpec {
        kind: UnitKind::Turn,
        call: None,
        name: Some("turn".to_owned()),
        command: turn.command.join(" "),
        argv: in_force.environment.command(&turn.command),
        environment: in_force.environment.with(&VariableMap::new()),
        cwd: in_force.loaded.workspace.clone(),
        settings: turn.unit.over(&Turn::default_unit()),
        output: OutputFiles {
            stdout: directory.join(format!("{id}.out")),
            stderr: directory.join(format!("{id}.err")),
            max_bytes: in_force.loaded.config.bash.output_max.0,
        },
        stdin: serde_json::to_string(&TurnInput { wakes }).ok(),
        sandbox: in_force.loaded.sandbox.rules.clone(),
    };
    match harness.engine().start(id, spec).await {
        Ok(handle) => Some(handle),
        Err(error) => {
            tracing::error!(%error, "the turn cannot be started");
            None
        }
    }
}

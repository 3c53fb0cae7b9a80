//! After a start: what the record says is alive, against what the keeper has.

use std::{collections::HashMap, sync::Arc, time::Duration};

use harness_model::{InvocationId, KillMode, Signal, UnitKind};
use harness_record::Record;
use harness_supervise::{Adopted, Engine, ProcessEvent, Spawner, StopSequence, UnitHandle};

/// Hands every unit that is not at rest back to the engine, with its process where the keeper has one.
///
/// What the keeper has and the record does not know is ended: a hook, whose call went with the daemon that made it, or
/// the unit of a record that was put back to an older day.
pub(crate) async fn recover(
    record: &Record,
    engine: &Engine,
    spawner: &Arc<dyn Spawner>,
    adopted: Vec<Adopted>,
) -> Result<Vec<UnitHandle>, harness_record::Error> {
    let mut by_invocation: HashMap<InvocationId, Adopted> = adopted
        .into_iter()
        .map(|adopted| (adopted.invocation.clone(), adopted))
        .collect();
    let mut handles = Vec::new();
    for stored in record.unfinished_units().await? {
        let process = stored
            .state
            .invocation
            .as_ref()
            .and_then(|invocation| by_invocation.remove(invocation));
        tracing::info!(unit = %stored.unit.id, found = process.is_some(), "unit taken up again");
        let handle = engine.adopt(stored, process);
        // The one that asked, or its pipes, went with the former daemon.
        if matches!(handle.spec().kind, UnitKind::Shell | UnitKind::McpServer) {
            tokio::spawn(abandon(handle.clone()));
        }
        handles.push(handle);
    }
    for (invocation, stray) in by_invocation {
        tracing::warn!(unit = %stray.unit, %invocation, "a run that nobody waits for is ended: a hook, or one that the record does not have");
        tokio::spawn(discard(spawner.clone(), stray));
    }
    Ok(handles)
}

/// Ends what only the daemon that started it could speak to.
async fn abandon(handle: UnitHandle) {
    if let Err(error) = handle.stop().await {
        tracing::warn!(unit = %handle.id(), %error, "what nobody can speak to any more cannot be stopped");
    }
}

/// Ends what is left of a run that nobody asks for, and lets its owner forget it.
async fn discard(spawner: Arc<dyn Spawner>, mut stray: Adopted) {
    let sequence = StopSequence {
        kill_mode: KillMode::ControlGroup,
        kill_signal: Signal::TERM,
        timeout: Some(Duration::from_secs(10)),
        final_kill_signal: Signal::KILL,
    };
    if let Err(error) = spawner.stop(&stray.invocation, sequence).await {
        tracing::warn!(unit = %stray.unit, %error, "a run that nobody asks for cannot be stopped");
    }
    while let Some(event) = stray.spawned.events.recv().await {
        if matches!(event, ProcessEvent::Ended(_) | ProcessEvent::Lost) {
            break;
        }
    }
    spawner.acknowledge(&stray.invocation);
}

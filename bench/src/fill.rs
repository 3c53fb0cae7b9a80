//! A long history, written through the record itself.

use std::path::Path;

use futures_util::future::try_join_all;
use harness_model::{
    CallId, CallRecord, CallState, Front, NewUnit, SessionId, StoredUnit, Transition, UnitId,
    UnitState,
};
use harness_record::{Record, Result};

/// How many tasks are on their way to the record at once, so that its commits are large.
const TOGETHER: usize = 250;

/// Writes `count` copies of a finished task into the record that a daemon has left, each with its call.
pub(crate) fn fill(database: &Path, model: &str, count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let record = Record::open(database).unwrap();
        let model = record
            .unit(&model.parse().unwrap())
            .await
            .unwrap()
            .expect("the task is recorded");
        let session = SessionId::generate();
        let mut left = count;
        while left > 0 {
            let some = left.min(TOGETHER);
            try_join_all((0..some).map(|_| copy(&record, &model, &session)))
                .await
                .unwrap();
            left -= some;
        }
        record.close().await;
    });
}

async fn copy(record: &Record, model: &StoredUnit, session: &SessionId) -> Result<()> {
    let id = UnitId::generate();
    let unit = NewUnit {
        id: id.clone(),
        spec: model.unit.spec.replace(model.unit.id.as_str(), id.as_str()),
        ..model.unit.clone()
    };
    let transition = |state: UnitState| Transition {
        unit: id.clone(),
        kind: unit.kind,
        state,
        recent_starts: model.recent_starts.clone(),
        last_lines: None,
        awaited: true,
    };
    let call = CallRecord {
        id: CallId::generate(),
        parent: None,
        session: session.clone(),
        front: Front::Mcp,
        group: "bash".to_owned(),
        tool: "run".to_owned(),
        input: serde_json::json!({ "cmd": unit.command }),
        asked: None,
        state: CallState::Open,
        code: None,
        preview: None,
        started_at: unit.created_at,
        duration_usec: None,
    };
    let (called, starting, ended) = (
        call.id.clone(),
        transition(UnitState::new()),
        transition(model.state.clone()),
    );
    record.call_begin(call).await?;
    record.unit_created(unit, starting).await?;
    record.unit_changed(ended).await?;
    record.wake_settled(&id, true).await?;
    record.call_finish(
        called,
        CallState::Ok,
        None,
        Some(format!("task {id}: done, exit code 0")),
        2000,
    );
    Ok(())
}

//! Making and changing units, inside the writer's transaction.

use harness_model::{NewUnit, TaskState, Timestamp, Transition, UnitId, UnitKind, UnitState, Wake};
use rusqlite::{Connection, OptionalExtension, named_params};

use crate::{error::Fault, invocations, row, wakes};

pub(crate) const FIND: &str = "SELECT seq, kind, ended_at IS NULL FROM units WHERE id = ?1";

pub(crate) const UPDATE: &str = "UPDATE units SET active_state = :active_state, sub_state = :sub_state, \
     result = :result, task_state = :task_state, ended_at = :ended_at, state = :state, recent_starts = :recent_starts WHERE seq = :seq";

/// What the record knows of a unit before a change.
pub(crate) struct Known {
    pub(crate) seq: i64,
    pub(crate) kind: String,
    /// It was not at rest.
    pub(crate) live: bool,
}

pub(crate) fn find(connection: &Connection, id: &UnitId) -> std::result::Result<Known, Fault> {
    let known = connection
        .prepare_cached(FIND)?
        .query_row([id.as_str()], |row| {
            Ok(Known {
                seq: row.get(0)?,
                kind: row.get(1)?,
                live: row.get(2)?,
            })
        })
        .optional()?;
    known.ok_or_else(|| Fault::Unknown {
        what: "unit",
        id: id.to_string(),
    })
}

/// When it came to rest; a state that is not final has no such time, whatever it says.
fn rest(state: &UnitState) -> Option<i64> {
    state
        .ended_at
        .filter(|_| state.is_final())
        .map(Timestamp::as_micros)
}

/// The one word for a task; other kinds have none.
fn task_state(kind: &str, state: &UnitState) -> Option<&'static str> {
    (kind == UnitKind::Task.as_str()).then(|| TaskState::of(state).as_str())
}

fn starts_json(starts: &[Timestamp]) -> rusqlite::Result<String> {
    let micros: Vec<i64> = starts.iter().map(|start| start.as_micros()).collect();
    row::to_json(&micros)
}

pub(crate) fn create(
    connection: &Connection,
    unit: &NewUnit,
    starting: &Transition,
) -> std::result::Result<(), Fault> {
    let state = &starting.state;
    connection
        .prepare_cached(
            "INSERT INTO units (id, kind, created_at, active_state, sub_state, result, task_state, ended_at, state, \
             recent_starts) \
             VALUES (:id, :kind, :created_at, :active_state, :sub_state, :result, :task_state, :ended_at, :state, \
             :recent_starts)",
        )?
        .execute(named_params! {
            ":id": unit.id.as_str(),
            ":kind": unit.kind.as_str(),
            ":created_at": unit.created_at.as_micros(),
            ":active_state": state.active_state.as_str(),
            ":sub_state": state.sub_state.as_str(),
            ":result": state.result.as_str(),
            ":task_state": task_state(unit.kind.as_str(), state),
            ":ended_at": rest(state),
            ":state": row::to_json(state)?,
            ":recent_starts": starts_json(&starting.recent_starts)?,
        })
        .map_err(|error| Fault::on_insert(error, "unit", unit.id.as_str()))?;
    let seq = connection.last_insert_rowid();
    connection
        .prepare_cached(
            "INSERT INTO definitions (unit, name, command, spec, cwd, settings) \
             VALUES (:unit, :name, :command, :spec, :cwd, :settings)",
        )?
        .execute(named_params! {
            ":unit": seq,
            ":name": unit.name,
            ":command": unit.command,
            ":spec": unit.spec,
            ":cwd": unit.cwd,
            ":settings": row::to_json(&unit.settings)?,
        })?;
    invocations::start(connection, seq, state)?;
    Ok(())
}

pub(crate) fn update(
    connection: &Connection,
    transition: &Transition,
) -> std::result::Result<Known, Fault> {
    let known = find(connection, &transition.unit)?;
    let state = &transition.state;
    connection.prepare_cached(UPDATE)?.execute(named_params! {
        ":active_state": state.active_state.as_str(),
        ":sub_state": state.sub_state.as_str(),
        ":result": state.result.as_str(),
        ":task_state": task_state(&known.kind, state),
        ":ended_at": rest(state),
        ":state": row::to_json(state)?,
        ":recent_starts": starts_json(&transition.recent_starts)?,
        ":seq": known.seq,
    })?;
    Ok(known)
}

pub(crate) fn change(
    connection: &Connection,
    transition: &Transition,
) -> std::result::Result<Option<Wake>, Fault> {
    let known = update(connection, transition)?;
    invocations::update(connection, known.seq, &transition.state)?;
    // The same end told twice, as after a failed answer, makes one wake.
    let ended = known.live && transition.state.is_final();
    if ended && known.kind == UnitKind::Task.as_str() {
        Ok(wakes::create(connection, known.seq, transition)?)
    } else {
        Ok(None)
    }
}

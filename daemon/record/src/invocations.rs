//! The runs of a unit.

use harness_model::{Invocation, SubState, Timestamp, UnitId, UnitState};
use rusqlite::{Connection, OptionalExtension, named_params};

use crate::{error::Result, record::Record, row};

/// Runs kept of each unit; one that is restarted for ever must not fill the disk.
const KEPT: i64 = 1000;

/// A run's row in the order of [`Record::invocations`].
pub(crate) const LIST: &str = "SELECT invocations.id, invocations.started_at, invocations.exit FROM units \
     CROSS JOIN invocations ON invocations.unit = units.seq \
     WHERE units.id = ?1 ORDER BY invocations.number DESC LIMIT ?2";

pub(crate) const NEWEST: &str =
    "SELECT number, id FROM invocations WHERE unit = ?1 ORDER BY number DESC LIMIT 1";

pub(crate) const TRIM: &str = "DELETE FROM invocations WHERE unit = ?1 AND number <= ?2";

pub(crate) const UPDATE: &str = "UPDATE invocations \
     SET started_at = coalesce(:started_at, started_at), exit = coalesce(:exit, exit) \
     WHERE unit = :unit AND id = :id AND number = (SELECT max(number) FROM invocations WHERE unit = :unit)";

impl Record {
    /// The newest runs of a unit, newest first; the last 1000 of each unit are kept.
    pub async fn invocations(&self, unit: &UnitId, limit: u32) -> Result<Vec<Invocation>> {
        let unit = unit.clone();
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(LIST)?;
            let rows = statement.query_map((unit.as_str(), limit), |row| {
                Ok(Invocation {
                    id: row::parsed(row, 0)?,
                    started_at: row::optional(row, 1, row::time)?,
                    exit: row::optional(row, 2, row::json)?,
                })
            })?;
            row::readable(rows)
        })
        .await
    }
}

/// The last run that was recorded of a unit: its number and id.
fn newest(connection: &Connection, unit: i64) -> rusqlite::Result<Option<(i64, String)>> {
    connection
        .prepare_cached(NEWEST)?
        .query_row([unit], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// Writes the run that `state` names, unless it is the last one already.
pub(crate) fn start(connection: &Connection, unit: i64, state: &UnitState) -> rusqlite::Result<()> {
    let Some(id) = &state.invocation else {
        return Ok(());
    };
    let number = match newest(connection, unit)? {
        Some((_, last)) if last == id.as_str() => return Ok(()),
        Some((number, _)) => number + 1,
        None => 1,
    };
    connection
        .prepare_cached(
            "INSERT INTO invocations (unit, number, id, started_at) VALUES (:unit, :number, :id, :started_at)",
        )?
        .execute(named_params! {
            ":unit": unit,
            ":number": number,
            ":id": id.as_str(),
            ":started_at": state.invocation_started_at.map(Timestamp::as_micros),
        })?;
    if number > KEPT {
        connection
            .prepare_cached(TRIM)?
            .execute((unit, number - KEPT))?;
    }
    Ok(())
}

/// Writes what `state` says of its run. `exit` is that of the run before while a run lasts.
pub(crate) fn update(
    connection: &Connection,
    unit: i64,
    state: &UnitState,
) -> rusqlite::Result<()> {
    let Some(id) = &state.invocation else {
        return Ok(());
    };
    let over = matches!(
        state.sub_state,
        SubState::Dead | SubState::Failed | SubState::AutoRestart | SubState::Exited
    );
    let exit = match &state.exit {
        Some(exit) if over => Some(row::to_json(exit)?),
        Some(_) | None => None,
    };
    connection.prepare_cached(UPDATE)?.execute(named_params! {
        ":started_at": state.invocation_started_at.map(Timestamp::as_micros),
        ":exit": exit,
        ":unit": unit,
        ":id": id.as_str(),
    })?;
    Ok(())
}

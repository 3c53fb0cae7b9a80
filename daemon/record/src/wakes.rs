//! Wakes: held for a waiter, due, acknowledged.

use harness_model::{ExitStatus, TaskState, Transition, UnitId, UnitState, Wake, WakeId};
use rusqlite::{Connection, Row, named_params};

use crate::{
    error::{Fault, Result},
    excerpt,
    record::Record,
    row,
    writer::Durability,
};

/// The end of a body that is longer, in bytes.
const BODY: usize = 16 << 10;

const COLUMNS: &str = "wakes.id, units.id, definitions.name, wakes.status, wakes.exit_code, wakes.body, \
     wakes.created_at, wakes.deliveries";

impl Record {
    /// Due wakes, oldest first, at most `limit`.
    pub async fn wakes(&self, limit: u32) -> Result<Vec<Wake>> {
        self.read(move |connection| due(connection, limit)).await
    }

    /// The same, and counts it as a delivery. They stay due until they are acknowledged.
    pub async fn wakes_take(&self, limit: u32) -> Result<Vec<Wake>> {
        self.write(Durability::Normal, move |connection| {
            let mut wakes = due(connection, limit)?;
            let mut count = connection.prepare_cached(DELIVERED)?;
            for wake in &mut wakes {
                count.execute([wake.id.0])?;
                wake.deliveries = wake.deliveries.saturating_add(1);
            }
            Ok(wakes)
        })
        .await
    }

    /// Acknowledges wakes; gives back those of them that were due.
    pub async fn wakes_ack(&self, ids: &[WakeId]) -> Result<Vec<WakeId>> {
        let ids = ids.to_vec();
        self.write(Durability::Normal, move |connection| {
            let mut acknowledge = connection.prepare_cached(ACKNOWLEDGE)?;
            let mut acknowledged = Vec::new();
            for id in &ids {
                if acknowledge.execute([id.0])? > 0 {
                    acknowledged.push(*id);
                }
            }
            Ok(acknowledged)
        })
        .await
    }

    /// Acknowledges the due wakes of a unit, before anything that is asked for after this call.
    /// Nobody waits for it; a failure is logged, and they stay due.
    pub fn wakes_ack_of(&self, unit: UnitId) {
        self.note(move |connection| {
            let mut acknowledge = connection.prepare_cached(ACKNOWLEDGE_OF)?;
            acknowledge.execute([unit.as_str()])?;
            Ok(())
        });
    }

    /// How many are due.
    pub async fn wakes_due(&self) -> Result<u64> {
        self.read(|connection| {
            let count: i64 = connection
                .prepare_cached(COUNT)?
                .query_row((), |row| row.get(0))?;
            Ok(u64::try_from(count).unwrap_or(0))
        })
        .await
    }

    /// The waiter for the end of a unit has its result (`delivered`), and the held wake is removed;
    /// or the waiter went away without it, and the wake is due and given back. No held wake: none.
    pub async fn wake_settled(&self, unit: &UnitId, delivered: bool) -> Result<Option<Wake>> {
        let unit = unit.clone();
        self.write(Durability::Normal, move |connection| {
            settle(connection, &unit, delivered)
        })
        .await
    }

    /// As [`Record::wake_settled`] when the result was delivered; nobody waits for it.
    pub fn wake_delivered(&self, unit: &UnitId) {
        let unit = unit.clone();
        self.note(move |connection| settle(connection, &unit, true).map(drop));
    }
}

/// Writes the wake of a task that has come to rest; none is given back if it is held.
pub(crate) fn create(
    connection: &Connection,
    unit: i64,
    transition: &Transition,
) -> rusqlite::Result<Option<Wake>> {
    let state = &transition.state;
    let body = transition.last_lines.as_deref().unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT INTO wakes (unit, state, status, exit_code, body, created_at) \
             VALUES (:unit, :state, :status, :exit_code, :body, :created_at)",
        )?
        .execute(named_params! {
            ":unit": unit,
            ":state": if transition.awaited { "held" } else { "due" },
            ":status": TaskState::of(state).as_str(),
            ":exit_code": exit_code(state),
            ":body": excerpt::tail(body, BODY),
            ":created_at": state.ended_at.unwrap_or_default().as_micros(),
        })?;
    if transition.awaited {
        return Ok(None);
    }
    one(connection, connection.last_insert_rowid()).map(Some)
}

/// None unless the last run is known to have called exit.
fn exit_code(state: &UnitState) -> Option<u8> {
    match state.exit.as_ref().map(|exit| exit.status) {
        Some(ExitStatus::Exited(code)) if !state.interrupted => Some(code),
        Some(ExitStatus::Exited(_) | ExitStatus::Signaled { .. }) | None => None,
    }
}

fn settle(
    connection: &Connection,
    unit: &UnitId,
    delivered: bool,
) -> std::result::Result<Option<Wake>, Fault> {
    let held: Vec<i64> = connection
        .prepare_cached(HELD)?
        .query_map([unit.as_str()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let settle = if delivered { FORGET } else { RING };
    for id in &held {
        connection.prepare_cached(settle)?.execute([id])?;
    }
    // A unit that was restarted and ended again under the same waiter has two; one ring is enough.
    match held.last().filter(|_| !delivered) {
        Some(id) => Ok(Some(one(connection, *id)?)),
        None => Ok(None),
    }
}

/// Makes every held wake due: the waiters are gone with the last daemon.
pub(crate) fn release_held(connection: &Connection) -> rusqlite::Result<usize> {
    connection.execute(RELEASE, ())
}

pub(crate) const RELEASE: &str =
    "UPDATE wakes INDEXED BY wakes_held SET state = 'due' WHERE state = 'held'";

pub(crate) const HELD: &str = "SELECT wakes.id FROM units \
     CROSS JOIN wakes INDEXED BY wakes_held ON wakes.unit = units.seq \
     WHERE units.id = ?1 AND wakes.state = 'held' ORDER BY wakes.id";

pub(crate) const DELIVERED: &str = "UPDATE wakes SET deliveries = deliveries + 1 WHERE id = ?1";

pub(crate) const ACKNOWLEDGE: &str =
    "UPDATE wakes SET state = 'acked' WHERE id = ?1 AND state = 'due'";

pub(crate) const ACKNOWLEDGE_OF: &str = "UPDATE wakes INDEXED BY wakes_unit SET state = 'acked' \
     WHERE unit = (SELECT seq FROM units WHERE id = ?1) AND state = 'due'";

pub(crate) const COUNT: &str = "SELECT value FROM counters WHERE name = 'wakes_due'";

pub(crate) const FORGET: &str = "DELETE FROM wakes WHERE id = ?1";

pub(crate) const RING: &str = "UPDATE wakes SET state = 'due' WHERE id = ?1";

pub(crate) fn one_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM wakes CROSS JOIN units ON units.seq = wakes.unit \
         CROSS JOIN definitions ON definitions.unit = wakes.unit WHERE wakes.id = ?1"
    )
}

pub(crate) fn due_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM wakes INDEXED BY wakes_due \
         CROSS JOIN units ON units.seq = wakes.unit \
         CROSS JOIN definitions ON definitions.unit = wakes.unit \
         WHERE wakes.state = 'due' ORDER BY wakes.id LIMIT ?1"
    )
}

fn due(connection: &Connection, limit: u32) -> rusqlite::Result<Vec<Wake>> {
    let mut statement = connection.prepare_cached(&due_sql())?;
    row::readable(statement.query_map([limit], wake)?)
}

fn one(connection: &Connection, id: i64) -> rusqlite::Result<Wake> {
    connection.prepare_cached(&one_sql())?.query_row([id], wake)
}

fn wake(row: &Row<'_>) -> rusqlite::Result<Wake> {
    let unit: UnitId = row::parsed(row, 1)?;
    Ok(Wake {
        id: WakeId(row.get(0)?),
        from: format!("bash-task-{unit}"),
        unit,
        name: row.get(2)?,
        status: row::word(row, 3, TaskState::from_word)?,
        exit_code: row.get(4)?,
        body: row.get(5)?,
        created_at: row::time(row, 6)?,
        deliveries: row.get(7)?,
    })
}

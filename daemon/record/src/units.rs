//! Units: making, changing and listing them.

pub(crate) mod write;

use harness_model::{
    NewUnit, StoredUnit, TaskCounts, Timestamp, Transition, UnitId, UnitKind, Wake,
};
use rusqlite::{OptionalExtension, Row, named_params};

use crate::{
    error::Result,
    invocations,
    record::{Page, Record, page_limit},
    row,
    writer::Durability,
};

/// The columns of [`stored`].
pub(crate) const COLUMNS: &str = "units.seq, units.id, units.kind, units.created_at, units.state, \
     units.recent_starts, definitions.name, definitions.command, definitions.spec, definitions.cwd, \
     definitions.settings";

/// Which units to list, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitQuery {
    /// Of this kind alone.
    pub kind: Option<UnitKind>,
    /// Those that are not at rest, or those that are.
    pub live: Option<bool>,
    /// Those made before this place: [`Page::next`] of the page before.
    pub before: Option<i64>,
    /// At most this many, and never more than 1000; 0 stands for 100.
    pub limit: u32,
}

impl Record {
    /// Writes a new unit and its first run; committed when this resolves.
    ///
    /// # Errors
    /// [`Error::Exists`](crate::Error::Exists) if there is a unit of that id.
    pub async fn unit_created(&self, unit: NewUnit, starting: Transition) -> Result<()> {
        self.write(Durability::Normal, move |connection| {
            write::create(connection, &unit, &starting)
        })
        .await
    }

    /// Writes that a further run of a unit is about to start; committed when this resolves. The unit is not at rest any more,
    /// and its next end makes a new wake.
    pub async fn unit_starting(&self, transition: Transition) -> Result<()> {
        self.write(Durability::Normal, move |connection| {
            let known = write::update(connection, &transition)?;
            invocations::start(connection, known.seq, &transition.state)?;
            Ok(())
        })
        .await
    }

    /// Writes a change of state; committed when this resolves. When it brings a task to rest, its wake is written
    /// with it, and given back unless it is held for a waiter ([`Record::wake_settled`]).
    pub async fn unit_changed(&self, transition: Transition) -> Result<Option<Wake>> {
        self.write(Durability::Normal, move |connection| {
            write::change(connection, &transition)
        })
        .await
    }

    /// Writes a change of state that nobody waits for and that need not survive a power cut. It
    /// comes after what was handed over before it; it never takes a unit out of its rest.
    pub fn unit_noted(&self, transition: Transition) {
        self.note(move |connection| {
            let known = write::find(connection, &transition.unit)?;
            if known.live || transition.state.is_final() {
                write::change(connection, &transition)?;
            }
            Ok(())
        });
    }

    /// One unit.
    pub async fn unit(&self, id: &UnitId) -> Result<Option<StoredUnit>> {
        let id = id.clone();
        self.read(move |connection| {
            connection
                .prepare_cached(&one_sql())?
                .query_row([id.as_str()], stored)
                .optional()
        })
        .await
    }

    /// A page of units, newest first.
    pub async fn units(&self, query: UnitQuery) -> Result<Page<StoredUnit>> {
        self.read(move |connection| {
            let limit = page_limit(query.limit);
            let mut statement = connection.prepare_cached(&page_sql(&query))?;
            let rows = statement.query_map(
                named_params! {
                    ":kind": query.kind.map(UnitKind::as_str),
                    ":before": query.before.unwrap_or(i64::MAX),
                    ":limit": limit + 1,
                },
                |row| Ok((row.get(0)?, stored(row))),
            )?;
            Page::collect(rows, limit)
        })
        .await
    }

    /// Every unit that is not at rest, oldest first.
    pub async fn unfinished_units(&self) -> Result<Vec<StoredUnit>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&unfinished_sql())?;
            row::readable(statement.query_map((), stored)?)
        })
        .await
    }

    /// How many tasks are in which state.
    pub async fn task_counts(&self) -> Result<TaskCounts> {
        self.read(|connection| {
            let mut counts = TaskCounts::default();
            let mut statement = connection.prepare_cached(COUNTS)?;
            let mut rows = statement.query(())?;
            while let Some(row) = rows.next()? {
                let value = u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
                match row.get_ref(0)?.as_str()? {
                    "tasks_running" => counts.running = value,
                    "tasks_inactive" => counts.inactive = value,
                    "tasks_failed" => counts.failed = value,
                    _ => {}
                }
            }
            Ok(counts)
        })
        .await
    }
}

pub(crate) fn one_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM units CROSS JOIN definitions ON definitions.unit = units.seq WHERE units.id = ?1"
    )
}

pub(crate) const COUNTS: &str = "SELECT name, value FROM counters";

/// The planner knows no statistics; left alone it might walk all units of a kind to find the live ones.
pub(crate) fn page_sql(query: &UnitQuery) -> String {
    let (index, rest) = match (query.live, query.kind) {
        (Some(true), _) => ("INDEXED BY units_live", "AND units.ended_at IS NULL"),
        (Some(false), Some(_)) => ("INDEXED BY units_kind", "AND units.ended_at IS NOT NULL"),
        (Some(false), None) => ("NOT INDEXED", "AND units.ended_at IS NOT NULL"),
        (None, Some(_)) => ("INDEXED BY units_kind", ""),
        (None, None) => ("NOT INDEXED", ""),
    };
    // `:kind IS NULL` keeps the parameters the same in each form.
    let kind = if query.kind.is_some() {
        "AND units.kind = :kind"
    } else {
        "AND :kind IS NULL"
    };
    format!(
        "SELECT {COLUMNS} FROM units {index} CROSS JOIN definitions ON definitions.unit = units.seq \
         WHERE units.seq < :before {kind} {rest} ORDER BY units.seq DESC LIMIT :limit"
    )
}

pub(crate) fn unfinished_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM units INDEXED BY units_live \
         CROSS JOIN definitions ON definitions.unit = units.seq \
         WHERE units.ended_at IS NULL ORDER BY units.seq"
    )
}

pub(crate) fn stored(row: &Row<'_>) -> rusqlite::Result<StoredUnit> {
    let starts: Vec<i64> = row::json(row, 5)?;
    Ok(StoredUnit {
        unit: NewUnit {
            id: row::parsed(row, 1)?,
            kind: row::word(row, 2, UnitKind::from_word)?,
            created_at: row::time(row, 3)?,
            name: row.get(6)?,
            command: row.get(7)?,
            spec: row.get(8)?,
            cwd: row.get(9)?,
            settings: row::json(row, 10)?,
        },
        state: row::json(row, 4)?,
        recent_starts: starts.into_iter().map(Timestamp::from_micros).collect(),
    })
}

//! Units: making, changing and listing them.

pub(crate) mod write;

use harness_model::{
    ActiveState, NewUnit, Page, StoredUnit, TaskCounts, TaskQuery, TaskState, Timestamp,
    Transition, UnitId, UnitKind, UnitQuery, Wake,
};
use rusqlite::{OptionalExtension, Row, named_params};

use crate::{error::Result, invocations, page, record::Record, row, writer::Durability};

/// The columns of [`stored`].
pub(crate) const COLUMNS: &str = "units.seq, units.id, units.kind, units.created_at, units.state, \
     units.recent_starts, definitions.name, definitions.command, definitions.spec, definitions.cwd, \
     definitions.settings";

/// What a list is narrowed by.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Filter {
    pub(crate) kind: Option<UnitKind>,
    pub(crate) active_state: Option<ActiveState>,
    /// Of tasks; not together with the others.
    pub(crate) task_state: Option<TaskState>,
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

    /// A page of units, newest first; at most 1000, 100 when the query names no limit.
    pub async fn units(&self, query: UnitQuery) -> Result<Page<StoredUnit>> {
        let filter = Filter {
            kind: query.kind,
            active_state: query.state,
            task_state: None,
        };
        self.page(filter, query.before, query.limit).await
    }

    /// A page of tasks, newest first; at most 1000, 100 when the query names no limit.
    pub async fn tasks(&self, query: TaskQuery) -> Result<Page<StoredUnit>> {
        let filter = Filter {
            kind: query.state.is_none().then_some(UnitKind::Task),
            active_state: None,
            task_state: query.state,
        };
        self.page(filter, query.before, query.limit).await
    }

    async fn page(
        &self,
        filter: Filter,
        before: Option<i64>,
        limit: Option<u32>,
    ) -> Result<Page<StoredUnit>> {
        self.read(move |connection| {
            let limit = page::limit(limit);
            let mut statement = connection.prepare_cached(&page_sql(filter))?;
            let rows = statement.query_map(
                named_params! {
                    ":kind": filter.kind.map(UnitKind::as_str),
                    ":active_state": filter.active_state.map(ActiveState::as_str),
                    ":task_state": filter.task_state.map(TaskState::as_str),
                    ":before": before.unwrap_or(i64::MAX),
                    ":limit": limit + 1,
                },
                |row| Ok((row.get(0)?, stored(row))),
            )?;
            page::collect(rows, limit)
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

/// Names the index itself: the planner knows no statistics, and left alone it might walk all units of a kind.
pub(crate) fn page_sql(filter: Filter) -> String {
    let index = match (filter.task_state, filter.active_state, filter.kind) {
        (Some(_), ..) => "INDEXED BY units_task_state",
        (None, Some(_), Some(_)) => "INDEXED BY units_kind_state",
        (None, Some(_), None) => "INDEXED BY units_state",
        (None, None, Some(_)) => "INDEXED BY units_kind",
        (None, None, None) => "NOT INDEXED",
    };
    let filters = [
        (filter.kind.is_some(), "kind"),
        (filter.active_state.is_some(), "active_state"),
        (filter.task_state.is_some(), "task_state"),
    ];
    // `IS NULL` keeps the parameters the same in each form.
    let conditions: String = filters
        .iter()
        .map(|(set, column)| {
            if *set {
                format!(" AND units.{column} = :{column}")
            } else {
                format!(" AND :{column} IS NULL")
            }
        })
        .collect();
    format!(
        "SELECT {COLUMNS} FROM units {index} CROSS JOIN definitions ON definitions.unit = units.seq \
         WHERE units.seq < :before{conditions} ORDER BY units.seq DESC LIMIT :limit"
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

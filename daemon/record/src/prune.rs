//! Forgetting what is old, in small pieces. Nothing calls it by itself.

use harness_model::{StoredUnit, Timestamp, UnitId};

use rusqlite::OptionalExtension;

use crate::{error::Result, record::Record, row, units, writer::Durability};

/// Units at rest that are old enough, oldest first. `?2` is the last place that may go.
pub(crate) fn prunable_sql() -> String {
    format!(
        "SELECT {} FROM units NOT INDEXED CROSS JOIN definitions ON definitions.unit = units.seq \
         WHERE units.seq <= ?2 AND units.ended_at < ?1 \
         AND NOT EXISTS (SELECT 1 FROM wakes INDEXED BY wakes_unit \
                         WHERE wakes.unit = units.seq AND wakes.state <> 'acked') \
         ORDER BY units.seq LIMIT ?3",
        units::COLUMNS
    )
}

/// The newest place that is not among the newest `?1` at rest.
pub(crate) const LAST_PRUNABLE: &str = "SELECT seq FROM units NOT INDEXED WHERE ended_at IS NOT NULL ORDER BY seq DESC LIMIT 1 OFFSET ?1";

pub(crate) const REMOVE: &str = "DELETE FROM units WHERE id = ?1 AND ended_at IS NOT NULL";

pub(crate) const PRUNE_CALLS: &str = "DELETE FROM calls WHERE seq IN (SELECT seq FROM calls NOT INDEXED \
     WHERE seq <= (SELECT max(seq) FROM calls) - ?1 AND started_at < ?2 AND state <> 'open' \
     ORDER BY seq LIMIT ?3)";

impl Record {
    /// Units that came to rest before `older_than`, oldest first, without the newest `keep` and
    /// without those that have a wake which nobody has acknowledged; at most `limit`.
    ///
    /// Their specs name their output files. Remove those first and the units after them
    /// ([`Record::remove_units`]): a crash in between is made good by the next time.
    pub async fn prunable_units(
        &self,
        keep: u64,
        older_than: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredUnit>> {
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        self.read(move |connection| {
            let last: Option<i64> = connection
                .prepare_cached(LAST_PRUNABLE)?
                .query_row([keep], |row| row.get(0))
                .optional()?;
            let Some(last) = last else {
                return Ok(Vec::new());
            };
            let mut statement = connection.prepare_cached(&prunable_sql())?;
            let rows = statement.query_map((older_than.as_micros(), last, limit), units::stored)?;
            row::readable(rows)
        })
        .await
    }

    /// Removes units with their runs and wakes. Those that are not at rest stay. Gives back how many are gone.
    pub async fn remove_units(&self, ids: &[UnitId]) -> Result<u64> {
        let ids = ids.to_vec();
        self.write(Durability::Normal, move |connection| {
            let mut remove = connection.prepare_cached(REMOVE)?;
            let mut removed = 0;
            for id in &ids {
                // The count is that of the rows of `units`, without those of the cascade.
                removed += remove.execute([id.as_str()])?;
            }
            Ok(removed as u64)
        })
        .await
    }

    /// Removes answered calls that came in before `older_than`, oldest first, without the newest `keep`;
    /// at most `limit`, so that writers between two pieces do not wait. Gives back how many are gone.
    pub async fn prune_calls(&self, keep: u64, older_than: Timestamp, limit: u32) -> Result<u64> {
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        self.write(Durability::Normal, move |connection| {
            let removed = connection.prepare_cached(PRUNE_CALLS)?.execute((
                keep,
                older_than.as_micros(),
                limit,
            ))?;
            Ok(removed as u64)
        })
        .await
    }
}

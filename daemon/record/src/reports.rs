//! What the scripts of units did by the command `tools`.

use harness_model::{ToolsReport, UnitId};
use rusqlite::OptionalExtension as _;

use crate::{error::Result, record::Record, writer::Durability};

pub(crate) const WRITE: &str = "INSERT INTO reports (unit, calls, report) \
     SELECT seq, ?2, ?3 FROM units WHERE id = ?1 \
     ON CONFLICT (unit) DO UPDATE SET calls = excluded.calls, report = excluded.report";

pub(crate) const READ: &str = "SELECT reports.calls, reports.report FROM units \
     JOIN reports ON reports.unit = units.seq WHERE units.id = ?1";

impl Record {
    /// Writes what a unit's script has done so far, and how many calls it has made; committed when this resolves.
    pub async fn report_write(
        &self,
        unit: &UnitId,
        calls: u32,
        report: &ToolsReport,
    ) -> Result<()> {
        let (unit, report) = (
            unit.clone(),
            serde_json::to_string(report).unwrap_or_default(),
        );
        self.write(Durability::Normal, move |connection| {
            connection
                .prepare_cached(WRITE)?
                .execute((unit.as_str(), calls, &report))?;
            Ok(())
        })
        .await
    }

    /// The same, read again; none for a unit that has made no call.
    pub async fn report(&self, unit: &UnitId) -> Result<Option<(u32, ToolsReport)>> {
        let unit = unit.clone();
        self.read(move |connection| {
            let row = connection
                .prepare_cached(READ)?
                .query_row([unit.as_str()], |row| {
                    Ok((row.get(0)?, row.get::<_, String>(1)?))
                })
                .optional()?;
            Ok(row
                .map(|(calls, report)| (calls, serde_json::from_str(&report).unwrap_or_default())))
        })
        .await
    }
}

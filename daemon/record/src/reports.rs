//! What the scripts of units did by the command `tools`.

use harness_model::{ToolsReport, UnitId};
use rusqlite::{Connection, OptionalExtension as _};

use crate::{
    error::{Fault, Result},
    record::Record,
    writer::Durability,
};

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
        let (unit, report) = (unit.clone(), json(report));
        self.write(Durability::Normal, move |connection| {
            write(connection, &unit, calls, &report)
        })
        .await
    }

    /// The same for what nobody waits for.
    pub fn report_noted(&self, unit: &UnitId, calls: u32, report: &ToolsReport) {
        let (unit, report) = (unit.clone(), json(report));
        self.note(move |connection| write(connection, &unit, calls, &report));
    }

    /// The same, read again; none for a unit that has made no call.
    pub async fn report(&self, unit: &UnitId) -> Result<Option<(u32, ToolsReport)>> {
        self.catch_up().await;
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

fn json(report: &ToolsReport) -> String {
    // Nothing in it lacks a JSON form.
    serde_json::to_string(report).unwrap_or_default()
}

fn write(
    connection: &Connection,
    unit: &UnitId,
    calls: u32,
    report: &str,
) -> std::result::Result<(), Fault> {
    let values = (unit.as_str(), calls, report);
    connection.prepare_cached(WRITE)?.execute(values)?;
    Ok(())
}

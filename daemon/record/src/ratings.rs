//! What the rater said of tools: one answer a tool, the newest.

use harness_model::ToolRating;
use rusqlite::{Row, named_params};

use crate::{error::Result, excerpt, record::Record, row, writer::Durability};

/// The longest reason, in characters.
const REASON: usize = 1000;

const LIST: &str = "SELECT tool_group, tool, digest, changes, reason, rated_at FROM ratings";

pub(crate) const PUT: &str = "INSERT INTO ratings (tool_group, tool, digest, changes, reason, rated_at) \
     VALUES (:group, :tool, :digest, :changes, :reason, :rated_at) ON CONFLICT (tool_group, tool) DO UPDATE SET \
     digest = excluded.digest, changes = excluded.changes, reason = excluded.reason, rated_at = excluded.rated_at";

impl Record {
    /// Writes an answer; it replaces an older one about the tool.
    pub async fn rating_put(&self, rating: ToolRating) -> Result<()> {
        self.write(Durability::Normal, move |connection| {
            connection.prepare_cached(PUT)?.execute(named_params! {
                ":group": rating.group,
                ":tool": rating.tool,
                ":digest": rating.digest,
                ":changes": rating.changes,
                ":reason": excerpt::head(&rating.reason, REASON),
                ":rated_at": rating.rated_at.as_micros(),
            })?;
            Ok(())
        })
        .await
    }

    /// Every answer; as many as there are tools.
    pub async fn ratings(&self) -> Result<Vec<ToolRating>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(LIST)?;
            let rows = statement.query_map((), stored)?;
            row::readable(rows)
        })
        .await
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<ToolRating> {
    Ok(ToolRating {
        group: row.get(0)?,
        tool: row.get(1)?,
        digest: row.get(2)?,
        changes: row.get(3)?,
        reason: row.get(4)?,
        rated_at: row::time(row, 5)?,
    })
}

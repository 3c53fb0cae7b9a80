//! The schema's versions and the way from one to the next.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Error, Fault, Result};

/// `hrns`: what file(1) and this program know the database by.
pub(crate) const APPLICATION_ID: i32 = 0x6872_6e73;

/// Each brings the schema from the version before it to its place in the list, counted from 1.
/// A released one is never changed; a change is a new file.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
];

/// The last version that this program knows.
fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Refuses a database of another program or of a newer version, before anything is changed in it.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<()> {
    let at = |error: rusqlite::Error| Fault::from(error).at(path);
    let application_id: i32 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(at)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))
        .map_err(at)?;
    if application_id != APPLICATION_ID && (application_id, tables) != (0, 0) {
        return Err(Error::Foreign {
            path: path.to_owned(),
            application_id,
        });
    }
    let found = version(connection).map_err(at)?;
    if found > known() {
        return Err(Error::Newer {
            path: path.to_owned(),
            found,
            known: known(),
        });
    }
    Ok(())
}

/// Applies what is missing, each migration in a transaction of its own.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    apply(connection, MIGRATIONS).map_err(|error| Fault::from(error).at(path))
}

pub(crate) fn apply(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    for (number, sql) in (1_i64..).zip(migrations) {
        // Read again inside the transaction: another process may have been faster.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&transaction)? < number {
            tracing::info!(schema = number, "bringing the record up to date");
            transaction.execute_batch(sql)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", number)?;
            transaction.commit()?;
        }
    }
    Ok(())
}

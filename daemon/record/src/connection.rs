//! Opening the database: the pragmas of a connection, in one place.

use std::{fs::OpenOptions, io, os::unix::fs::OpenOptionsExt, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{
    error::{Error, Fault, Result},
    schema,
};

/// How long a write waits for another program's lock before it fails.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements kept prepared on each connection; there are about as many.
const STATEMENTS: usize = 64;

/// The log is cut back to this many bytes when it has grown beyond them.
const LOG_LIMIT: i64 = 16 << 20;

/// Opens the one connection that writes, makes the file if there is none (readable by its owner
/// alone), and brings its schema up to date.
pub(crate) fn open_writer(path: &Path, lock_timeout: Duration) -> Result<Connection> {
    make_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let at = |error: rusqlite::Error| Fault::from(error).at(path);
    let mut connection = Connection::open_with_flags(path, flags).map_err(at)?;
    prepare(&connection, 512, lock_timeout).map_err(at)?;
    schema::check(&connection, path)?;
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0))
        .map_err(at)?;
    if mode != "wal" {
        tracing::warn!(path = %path.display(), mode, "the file system has no shared memory: the record works without its log, slower");
    }
    connection
        .pragma_update(None, "journal_size_limit", LOG_LIMIT)
        .map_err(at)?;
    schema::migrate(&mut connection, path)?;
    Ok(connection)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path, lock_timeout: Duration) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
        .and_then(|connection| {
            prepare(&connection, 256, lock_timeout)?;
            Ok(connection)
        })
        .map_err(|error| Fault::from(error).at(path))
}

/// `cache` is in KiB.
fn prepare(connection: &Connection, cache: i64, lock_timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(lock_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Or SQLite looks at what is bound and compiles most statements anew for each execution.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cache_size", -cache)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Calls and environments may hold secrets: SQLite would make the file with the process's umask, and
/// gives the log beside it the same mode.
fn make_private(path: &Path) -> Result<()> {
    let made = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path);
    match made {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Err(Error::ReadOnly {
                path: path.to_owned(),
                source: Box::new(error),
            })
        }
        // SQLite meets the same obstacle and says more.
        Ok(_) | Err(_) => Ok(()),
    }
}

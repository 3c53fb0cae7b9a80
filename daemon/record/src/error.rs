//! What can go wrong with the record.

use std::path::{Path, PathBuf};

use rusqlite::ffi;

/// What the record's operations return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be written to or read from the record. Each message ends with what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No space; nothing of the failed write is left, and later writes succeed once there is space.
    #[error("the disk of {path} is full: free some space; what is in the record is safe")]
    Full {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file or its directory may not be written.
    #[error(
        "{path} cannot be written: let this user write to it, its directory and the files beside it"
    )]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// What SQLite or the kernel said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another program holds the write lock for longer than the record waits.
    #[error("{path} is locked by another program: end the one that `fuser {path}` names")]
    Locked {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file, or a value in it, is not what this program wrote.
    #[error(
        "{path} is damaged: stop the daemon, then move it away together with the -wal and -shm files beside it, \
         or mend it with `sqlite3 {path} .recover`"
    )]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is a database of some other program.
    #[error(
        "{path} is not a harness's record (its application id is {application_id:#x}): choose another state directory"
    )]
    Foreign {
        /// The database.
        path: PathBuf,
        /// SQLite's `application_id`.
        application_id: i32,
    },
    /// A newer version of the program wrote the file.
    #[error(
        "{path} has schema {found}, and this version knows {known} at most: start the newer version again, \
         or move the file away"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The file's schema version.
        found: i64,
        /// The last one that this program knows.
        known: i64,
    },
    /// The file can neither be opened nor made.
    #[error(
        "{path} cannot be opened: see that its directory exists, that this user may write there, \
         and that file descriptors and threads are left"
    )]
    Open {
        /// The database.
        path: PathBuf,
        /// What SQLite or the kernel said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An id was used a second time.
    #[error("there is a {what} {id} already: use another id")]
    Exists {
        /// `unit` or `call`.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// The record has nothing of that id.
    #[error("there is no {what} {id} in the record: it was never made, or it was removed")]
    Unknown {
        /// `unit`.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// Anything else that SQLite refused.
    #[error("{path}: SQLite failed: look for errors of its disk in the kernel's log")]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The record's thread is gone.
    #[error("the record is closed: restart the daemon")]
    Closed,
}

/// An error that does not know yet which file it is about.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Exists { what: &'static str, id: String },
    Unknown { what: &'static str, id: String },
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Fault {
    /// The same, as the public error about the database at `path`.
    pub(crate) fn at(self, path: &Path) -> Error {
        match self {
            Self::Sqlite(source) => classify(source, path.to_owned()),
            Self::Exists { what, id } => Error::Exists { what, id },
            Self::Unknown { what, id } => Error::Unknown { what, id },
        }
    }

    /// A violated UNIQUE constraint means that the id is in use.
    pub(crate) fn on_insert(error: rusqlite::Error, what: &'static str, id: &str) -> Self {
        match error.sqlite_error() {
            Some(failure) if failure.extended_code == ffi::SQLITE_CONSTRAINT_UNIQUE => {
                Self::Exists {
                    what,
                    id: id.to_owned(),
                }
            }
            Some(_) | None => Self::Sqlite(error),
        }
    }
}

fn classify(source: rusqlite::Error, path: PathBuf) -> Error {
    use ffi::ErrorCode as Code;
    let Some(failure) = source.sqlite_error() else {
        // A stored value that is not of its type, not UTF-8, not JSON, or no known word.
        let unreadable = matches!(
            source,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
        );
        return if unreadable {
            Error::Corrupt { path, source }
        } else {
            Error::Sqlite { path, source }
        };
    };
    let code = failure.code;
    // The second is the shared memory beside the log, which could not grow.
    if code == Code::DiskFull || failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
        Error::Full { path, source }
    } else if matches!(code, Code::ReadOnly | Code::PermissionDenied) {
        Error::ReadOnly {
            path,
            source: Box::new(source),
        }
    } else if matches!(code, Code::DatabaseBusy | Code::DatabaseLocked) {
        Error::Locked { path, source }
    } else if matches!(code, Code::DatabaseCorrupt | Code::NotADatabase) {
        Error::Corrupt { path, source }
    } else if code == Code::CannotOpen {
        Error::Open {
            path,
            source: Box::new(source),
        }
    } else {
        Error::Sqlite { path, source }
    }
}

//! Reading columns as nouns. What cannot be read is an error that names the column.

use std::{error::Error as StdError, str::FromStr};

use harness_model::Timestamp;
use rusqlite::{
    Row,
    types::{FromSqlError, Type, ValueRef},
};
use serde::{Serialize, de::DeserializeOwned};

/// The column holds a word that this version does not know.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no word that this version knows")]
struct UnknownWord(String);

fn broken(column: usize, error: impl StdError + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

fn text<'row>(row: &'row Row<'_>, column: usize) -> rusqlite::Result<&'row str> {
    row.get_ref(column)?
        .as_str()
        .map_err(|error: FromSqlError| broken(column, error))
}

/// What `read` makes of the column, unless it is NULL.
pub(crate) fn optional<T>(
    row: &Row<'_>,
    column: usize,
    read: impl FnOnce(&Row<'_>, usize) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    if row.get_ref(column)? == ValueRef::Null {
        Ok(None)
    } else {
        read(row, column).map(Some)
    }
}

/// A word of one of the enumerations.
pub(crate) fn word<T>(
    row: &Row<'_>,
    column: usize,
    from_word: fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let word = text(row, column)?;
    from_word(word).ok_or_else(|| broken(column, UnknownWord(word.chars().take(80).collect())))
}

/// An id.
pub(crate) fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr<Err: StdError + Send + Sync + 'static>,
{
    text(row, column)?
        .parse()
        .map_err(|error| broken(column, error))
}

/// A JSON text.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text(row, column)?).map_err(|error| broken(column, error))
}

/// A time.
pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_micros)
}

/// A value as a JSON text.
pub(crate) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// The rows that can be read. One that cannot must not hide the others (nor keep the daemon from
/// starting), so it is logged and left out.
pub(crate) fn readable<T>(
    rows: impl Iterator<Item = rusqlite::Result<T>>,
) -> rusqlite::Result<Vec<T>> {
    let mut readable = Vec::new();
    for row in rows {
        match row {
            Ok(item) => readable.push(item),
            Err(
                error @ (rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)),
            ) => tracing::error!(%error, "a row of the record cannot be read and is left out"),
            Err(error) => return Err(error),
        }
    }
    Ok(readable)
}

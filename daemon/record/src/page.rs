//! Pages of a list, newest first.

use harness_model::Page;

use crate::row;

/// How many rows a page holds when `limit` are asked for.
pub(crate) fn limit(limit: Option<u32>) -> u32 {
    limit
        .unwrap_or(Page::<()>::DEFAULT_LIMIT)
        .clamp(1, Page::<()>::MAX_LIMIT)
}

/// From one row more than asked for, each with its place. A row that cannot be read is left out.
pub(crate) fn collect<T>(
    rows: impl Iterator<Item = rusqlite::Result<(i64, rusqlite::Result<T>)>>,
    limit: u32,
) -> rusqlite::Result<Page<T>> {
    let mut rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(place, _)| *place);
    let items = row::readable(rows.into_iter().map(|(_, item)| item))?;
    Ok(Page { items, next })
}

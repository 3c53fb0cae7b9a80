//! Lists that come in pages.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{error::ClientError, handle::Client};

/// Pages that are read at most.
const PAGES_MAX: usize = 1000;

/// Entries that are read at most.
const ENTRIES_MAX: usize = 20_000;

/// All entries, and what was wrong with the pages, if something was.
pub(super) async fn all(
    client: &Client,
    method: &str,
    member: &str,
) -> Result<(Vec<Value>, Option<&'static str>), ClientError> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut params = Map::new();
        params.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
        let mut page = client.request(method, params).await?;
        match page.get_mut(member).map(Value::take) {
            Some(Value::Array(items)) => entries.extend(items),
            _ => {
                return Err(ClientError::Unreadable {
                    what: "it has no list in it",
                });
            }
        }
        let Some(next) = page["nextCursor"].as_str().filter(|next| !next.is_empty()) else {
            return Ok((entries, None));
        };
        if !seen.insert(next.to_owned()) {
            return Ok((entries, Some("its pages go round in a circle")));
        }
        if seen.len() >= PAGES_MAX || entries.len() >= ENTRIES_MAX {
            return Ok((entries, Some("its pages do not end")));
        }
        cursor = Some(next.to_owned());
    }
}

//! Calls: before they run, and their end.

use harness_model::{CallId, CallQuery, CallRecord, CallState, ErrorCode, Front, Page, SessionId};
use rusqlite::{Connection, Row, named_params};
use serde_json::Value;

use crate::{
    error::{Fault, Result},
    excerpt, page,
    record::Record,
    row,
    writer::Durability,
};

/// The longest preview, in characters.
const PREVIEW: usize = 1000;

impl Record {
    /// Writes a call before it runs; resolves when it is committed. A long input is cut
    /// ([`excerpt`](crate::excerpt)), and so is a long preview.
    pub async fn call_begin(&self, mut call: CallRecord) -> Result<()> {
        // Here rather than on the writer: a huge input must not keep others waiting.
        call.input = excerpt::excerpt(&call.input);
        self.write(Durability::Normal, move |connection| {
            insert(connection, &call)
        })
        .await
    }

    /// Writes what a hook made of the input of an open call, before it is carried out; what was there becomes what
    /// was asked for. Resolves when it is committed.
    pub async fn call_rewritten(&self, id: CallId, input: Value) -> Result<()> {
        let input = excerpt::excerpt(&input);
        self.write(Durability::Normal, move |connection| {
            let changed = connection.prepare_cached(REWRITE)?.execute(named_params! {
                ":input": row::to_json(&input)?,
                ":id": id.as_str(),
            })?;
            known(changed, &id)
        })
        .await
    }

    /// Writes a call's end. Nobody waits for it; a call whose end was not written is `outcome_unknown` after a restart.
    pub fn call_finish(
        &self,
        id: CallId,
        state: CallState,
        code: Option<ErrorCode>,
        preview: Option<String>,
        duration_usec: u64,
    ) {
        let preview = preview.map(|preview| excerpt::head(&preview, PREVIEW).to_owned());
        let duration = i64::try_from(duration_usec).unwrap_or(i64::MAX);
        self.note(move |connection| {
            let changed = connection.prepare_cached(FINISH)?.execute(named_params! {
                ":state": state.as_str(),
                ":code": code.map(ErrorCode::as_str),
                ":preview": preview,
                ":duration": duration,
                ":id": id.as_str(),
            })?;
            known(changed, &id)
        });
    }

    /// A page of calls, newest first; at most 1000, 100 when the query names no limit. One
    /// whose end was handed over before is shown with it.
    ///
    /// One filter is answered from its index alone; with several, the narrowest of `parent`,
    /// `session`, `tool` and `state` (in this order) is, and the others are applied to what it gives.
    pub async fn calls(&self, query: CallQuery) -> Result<Page<CallRecord>> {
        self.catch_up().await;
        self.read(move |connection| {
            let limit = page::limit(query.limit);
            let mut statement = connection.prepare_cached(&page_sql(&query))?;
            let rows = statement.query_map(
                named_params! {
                    ":parent": query.parent.as_ref().map(CallId::as_str),
                    ":session": query.session.as_ref().map(SessionId::as_str),
                    ":tool": query.tool,
                    ":state": query.state.map(CallState::as_str),
                    ":before": query.before.unwrap_or(i64::MAX),
                    ":limit": limit + 1,
                },
                |row| Ok((row.get(0)?, stored(row))),
            )?;
            page::collect(rows, limit)
        })
        .await
    }
}

fn known(changed: usize, id: &CallId) -> std::result::Result<(), Fault> {
    if changed == 0 {
        return Err(Fault::Unknown {
            what: "open call",
            id: id.to_string(),
        });
    }
    Ok(())
}

pub(crate) const REWRITE: &str =
    "UPDATE calls SET asked = input, input = :input WHERE id = :id AND state = 'open'";

pub(crate) const FINISH: &str = "UPDATE calls SET state = :state, code = :code, preview = :preview, \
     duration_usec = :duration WHERE id = :id AND state = 'open'";

/// Names the index itself: without statistics the planner does not know which is the narrowest.
pub(crate) fn page_sql(query: &CallQuery) -> String {
    let filters = [
        (query.parent.is_some(), "parent", "calls_parent"),
        (query.session.is_some(), "session", "calls_session"),
        (query.tool.is_some(), "tool", "calls_tool"),
        (query.state.is_some(), "state", "calls_state"),
    ];
    let index = filters.iter().find(|(set, ..)| *set).map_or_else(
        || "NOT INDEXED".to_owned(),
        |(_, _, index)| format!("INDEXED BY {index}"),
    );
    // `IS NULL` keeps the parameters the same in each form.
    let conditions: String = filters
        .iter()
        .map(|(set, column, _)| {
            if *set {
                format!(" AND {column} = :{column}")
            } else {
                format!(" AND :{column} IS NULL")
            }
        })
        .collect();
    format!(
        "SELECT seq, id, parent, session, front, tool_group, tool, input, state, code, preview, started_at, \
         duration_usec, asked FROM calls {index} WHERE seq < :before{conditions} ORDER BY seq DESC LIMIT :limit"
    )
}

/// Nobody knows how the calls ended that were open when the last daemon died.
pub(crate) fn close_open(connection: &Connection) -> rusqlite::Result<usize> {
    connection.execute(CLOSE, ())
}

pub(crate) const CLOSE: &str = "UPDATE calls INDEXED BY calls_state \
     SET state = 'outcome_unknown', code = 'outcome_unknown' WHERE state = 'open'";

fn insert(connection: &Connection, call: &CallRecord) -> std::result::Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO calls (id, parent, session, front, tool_group, tool, input, state, code, preview, \
             started_at, duration_usec) VALUES (:id, :parent, :session, :front, :group, :tool, :input, :state, \
             :code, :preview, :started_at, :duration)",
        )?
        .execute(named_params! {
            ":id": call.id.as_str(),
            ":parent": call.parent.as_ref().map(CallId::as_str),
            ":session": call.session.as_str(),
            ":front": call.front.as_str(),
            ":group": call.group,
            ":tool": call.tool,
            ":input": row::to_json(&call.input)?,
            ":state": call.state.as_str(),
            ":code": call.code.map(ErrorCode::as_str),
            ":preview": call.preview.as_deref().map(|preview| excerpt::head(preview, PREVIEW)),
            ":started_at": call.started_at.as_micros(),
            ":duration": call.duration_usec.map(|usec| i64::try_from(usec).unwrap_or(i64::MAX)),
        })
        .map_err(|error| Fault::on_insert(error, "call", call.id.as_str()))?;
    Ok(())
}

fn stored(row: &Row<'_>) -> rusqlite::Result<CallRecord> {
    Ok(CallRecord {
        id: row::parsed(row, 1)?,
        parent: row::optional(row, 2, row::parsed)?,
        session: row::parsed(row, 3)?,
        front: row::word(row, 4, Front::from_word)?,
        group: row.get(5)?,
        tool: row.get(6)?,
        input: row::json(row, 7)?,
        asked: row::optional(row, 13, row::json)?,
        state: row::word(row, 8, CallState::from_word)?,
        code: row::optional(row, 9, |row, column| {
            row::word(row, column, ErrorCode::from_word)
        })?,
        preview: row.get(10)?,
        started_at: row::time(row, 11)?,
        duration_usec: row
            .get::<_, Option<i64>>(12)?
            .map(|usec| u64::try_from(usec).unwrap_or(0)),
    })
}

//! `harnessctl calls`

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use clap::Args;
use harness_model::{CallId, CallQuery, CallRecord, CallState, Page, SessionId};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{span, style::Tone, table::Table},
};

/// The newest calls of tools in the order they were made, each under the one it was made from
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only calls of the tool with this name
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls that were made from this call
    #[arg(long, value_name = "ID")]
    parent: Option<CallId>,
    /// Only calls of this connection
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Only calls in this state: open, ok, failed, refused, cancelled or outcome_unknown
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<CallState>,
    /// How many at most, 1000 at the very most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

fn state(word: &str) -> Result<CallState, String> {
    let known: Vec<&str> = CallState::ALL.iter().map(|state| state.as_str()).collect();
    CallState::from_word(word).ok_or_else(|| format!("expected one of {}", known.join(", ")))
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let Arguments {
        tool,
        parent,
        session,
        state,
        limit,
    } = arguments;
    let query = CallQuery {
        limit: Some(limit),
        before: None,
        parent,
        session,
        tool,
        state,
    };
    let page = context.client()?.calls(&query).await?;
    context.show(&page, |page| list(page, context))?;
    Ok(Exit::DONE)
}

fn list(page: &Page<CallRecord>, context: &Context) -> String {
    let mut table = Table::new(&[
        "ID", "AGE", "FRONT", "SESSION", "TOOL", "STATE", "CODE", "DURATION", "INPUT",
    ]);
    for (depth, call) in timeline(&page.items) {
        let duration = call
            .duration_usec
            .map(|micros| span::span(Duration::from_micros(micros)));
        let dash = || "-".to_owned();
        table.row(vec![
            (Tone::Plain, call.id.to_string()),
            (Tone::Plain, span::age(call.started_at)),
            (Tone::Plain, call.front.to_string()),
            (Tone::Plain, call.session.to_string()),
            (Tone::Plain, format!("{}{}", "  ".repeat(depth), name(call))),
            (Tone::of_call(call.state), call.state.to_string()),
            (
                Tone::Plain,
                call.code.map_or_else(dash, |code| code.to_string()),
            ),
            (Tone::Plain, duration.unwrap_or_else(dash)),
            (Tone::Plain, input(call)),
        ]);
    }
    table.render(context.style)
}

/// What was carried out, and what was asked for where a hook made another of it.
fn input(call: &CallRecord) -> String {
    match &call.asked {
        Some(asked) => format!("{} (asked: {asked})", call.input),
        None => call.input.to_string(),
    }
}

/// A call that was refused before it was known which group is meant has none.
fn name(call: &CallRecord) -> String {
    if call.group.is_empty() {
        call.tool.clone()
    } else {
        format!("{}.{}", call.group, call.tool)
    }
}

/// Oldest first, each followed by those that were made from it, with how deep it is. One whose parent is
/// not on the page stands by itself.
fn timeline(newest_first: &[CallRecord]) -> Vec<(usize, &CallRecord)> {
    let known: HashSet<&CallId> = newest_first.iter().map(|call| &call.id).collect();
    let mut nested: HashMap<&CallId, Vec<&CallRecord>> = HashMap::new();
    let mut waiting: Vec<(usize, &CallRecord)> = Vec::new();
    for call in newest_first {
        match call
            .parent
            .as_ref()
            .filter(|parent| known.contains(*parent) && **parent != call.id)
        {
            Some(parent) => nested.entry(parent).or_default().push(call),
            None => waiting.push((0, call)),
        }
    }
    // A stack: its top is the oldest.
    let mut shown = Vec::with_capacity(newest_first.len());
    while let Some((depth, call)) = waiting.pop() {
        shown.push((depth, call));
        let inner = nested.remove(&call.id).unwrap_or_default();
        waiting.extend(inner.into_iter().map(|call| (depth + 1, call)));
    }
    shown
}

#[cfg(test)]
mod tests {
    use harness_model::{Front, Timestamp};
    use serde_json::json;

    use super::*;

    fn call(id: &str, parent: Option<&str>) -> CallRecord {
        CallRecord {
            id: id.parse().unwrap(),
            parent: parent.map(|parent| parent.parse().unwrap()),
            session: SessionId::generate(),
            front: Front::Mcp,
            group: String::new(),
            tool: "x".into(),
            input: json!({}),
            asked: None,
            state: CallState::Ok,
            code: None,
            preview: None,
            started_at: Timestamp::default(),
            duration_usec: None,
        }
    }

    #[test]
    fn nested_calls_stand_under_the_one_they_were_made_from() {
        let [first, second, inner, innermost, last, orphan] =
            ["a", "b", "c", "d", "e", "f"].map(|letter| letter.repeat(12));
        // In the order they were made, the newest first; the orphan was made from one that is not here.
        let page = [
            call(&orphan, Some("000000000000")),
            call(&last, Some(&first)),
            call(&innermost, Some(&inner)),
            call(&inner, Some(&first)),
            call(&second, None),
            call(&first, None),
        ];
        let shown: Vec<(usize, &str)> = timeline(&page)
            .iter()
            .map(|(depth, call)| (*depth, call.id.as_str()))
            .collect();
        let expected = [
            (0, &first),
            (1, &inner),
            (2, &innermost),
            (1, &last),
            (0, &second),
            (0, &orphan),
        ];
        assert_eq!(shown, expected.map(|(depth, id)| (depth, id.as_str())));
    }
}

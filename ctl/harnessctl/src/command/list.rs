//! `harnessctl list`

use clap::Args;
use harness_client::Client;
use harness_model::{Page, TaskQuery, TaskState, TaskStatus};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{note, task},
};

/// List tasks, newest first
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only tasks in this state: pending, running, done, timed_out, interrupted or stopped
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<TaskState>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Every task there ever was
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

fn state(word: &str) -> Result<TaskState, String> {
    let known: Vec<&str> = TaskState::ALL.iter().map(|state| state.as_str()).collect();
    TaskState::from_word(word).ok_or_else(|| format!("expected one of {}", known.join(", ")))
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let limit = if arguments.all {
        usize::MAX
    } else {
        arguments.limit
    };
    let page = fetch(&context.client()?, arguments.state, limit).await?;
    context.show(&page, |page| task::list(page, context))?;
    if page.next.is_some() && context.style.terminal && !context.json {
        note("there are more: use --limit N or --all");
    }
    Ok(Exit::DONE)
}

/// Page after page until `limit`: a filter can leave one short.
async fn fetch(
    client: &Client,
    state: Option<TaskState>,
    limit: usize,
) -> Result<Page<TaskStatus>> {
    let mut all = Page {
        items: Vec::new(),
        next: None,
    };
    loop {
        let left = limit - all.items.len();
        let wanted = u32::try_from(left)
            .unwrap_or(u32::MAX)
            .min(Page::<()>::MAX_LIMIT);
        let query = TaskQuery {
            limit: Some(wanted.max(1)),
            before: all.next,
            state,
        };
        let page = client.tasks(&query).await?;
        all.items.extend(page.items.into_iter().take(left));
        // A cursor that stands still would be asked for ever.
        let progress = page.next.is_some() && page.next != all.next;
        all.next = page.next;
        if !progress || all.items.len() >= limit {
            return Ok(all);
        }
    }
}

//! `harnessctl approvals`

use clap::{Args, Subcommand};
use harness_model::{Approval, ApprovalState, EventBody, Scope, Standing};
use serde_json::Value;

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{fields::Fields, print, print_json_line, span},
};

/// List the calls that wait for your answer, exactly as they will run
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show the newest ones, whatever became of them
    #[arg(long)]
    all: bool,
    /// Then show each as it comes, until interrupted
    #[arg(long, conflicts_with = "all")]
    watch: bool,
    #[command(subcommand)]
    standing: Option<Answers>,
}

#[derive(Debug, Subcommand)]
enum Answers {
    /// List the answers that hold for calls to come
    Standing,
    /// Take such an answer back
    Revoke {
        /// Its id
        #[arg(value_name = "ID")]
        id: i64,
    },
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    match arguments.standing {
        Some(Answers::Standing) => {
            let standing = client.standing().await?;
            context.show(&standing, |standing| {
                standing.iter().map(describe_standing).collect()
            })?;
        }
        Some(Answers::Revoke { id }) => {
            let standing = client.revoke(id).await?;
            context.show(&standing, |standing| {
                standing.iter().map(describe_standing).collect()
            })?;
        }
        None if arguments.watch => watch(context).await?,
        None => {
            let approvals = client.approvals(arguments.all).await?;
            context.show(&approvals, |approvals| {
                approvals.iter().map(describe).collect()
            })?;
        }
    }
    Ok(Exit::DONE)
}

/// Subscribed before the list is read, so that none falls between.
async fn watch(context: &Context) -> Result<()> {
    let client = context.client()?;
    let mut events = client.events(None).await?;
    let mut shown = Vec::new();
    for approval in client.approvals(false).await? {
        shown.push(approval.id);
        show(&approval, context)?;
    }
    loop {
        let message = events.next().await?;
        let Some(event) = message.event() else {
            continue;
        };
        if let EventBody::ApprovalRequested(approval) = &event.body
            && !shown.contains(&approval.id)
        {
            show(approval, context)?;
        }
    }
}

fn show(approval: &Approval, context: &Context) -> Result<()> {
    if context.json {
        print_json_line(approval)
    } else {
        print(&describe(approval))
    }
}

/// The card: everything of others is escaped, so that what is read is what will run.
pub(crate) fn describe(approval: &Approval) -> String {
    let left = span::left(approval.expires_at);
    let state = match approval.state {
        ApprovalState::Pending => format!("waits, {left} left"),
        ApprovalState::Allowed
        | ApprovalState::Used
        | ApprovalState::Rejected
        | ApprovalState::Expired => approval.state.to_string(),
    };
    let mut card = Fields::new(format!(
        "{}: {}.{}: {state}",
        approval.id, approval.group, approval.tool
    ));
    for (key, value) in &approval.input {
        match value {
            Value::String(text) => {
                card.field(key, "");
                card.quote(text);
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                card.field(key, value.to_string());
            }
        }
    }
    card.field("in", &approval.cwd);
    card.field("asked by", format!("{} ({})", approval.rule, approval.why));
    card.field("always", scope(&approval.scope));
    if let Some(by) = &approval.answered_by {
        card.field("answer of", by);
    }
    card.into_text()
}

fn describe_standing(standing: &Standing) -> String {
    let word = if standing.allow { "allow" } else { "reject" };
    let mut text = Fields::new(format!(
        "{}: {word} {}.{}",
        standing.id, standing.group, standing.tool
    ));
    text.field("covers", scope(&standing.scope));
    text.field(
        "given by",
        format!("{}, {}", standing.answered_by, standing.created_at),
    );
    text.into_text()
}

/// What an answer for good covers, in words.
fn scope(of: &Scope) -> String {
    match of {
        Scope::Tool => "every call of this tool".to_owned(),
        Scope::Commands(commands) => format!("scripts of nothing but: {}", commands.join(" | ")),
        Scope::Text(_) => "this text alone".to_owned(),
        Scope::Sandbox {
            opened,
            scope: inner,
        } => format!("{}, when it asks to {opened}", scope(inner)),
    }
}

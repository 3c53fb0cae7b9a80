//! `harnessctl approvals`

use clap::{Args, Subcommand};
use harness_model::{Approval, ApprovalState, EventBody, Standing};

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

/// The card under a line that says where it stands.
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
    for line in approval.card().lines() {
        card.line(line);
    }
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
    text.field("covers", standing.scope.to_string());
    text.field(
        "given by",
        format!("{}, {}", standing.answered_by, standing.created_at),
    );
    text.into_text()
}

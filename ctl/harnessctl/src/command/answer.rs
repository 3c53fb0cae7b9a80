//! `harnessctl approve` and `harnessctl reject`

use clap::Args;
use harness_model::{Answer, ApprovalId};

use super::approvals::describe;
use crate::{context::Context, error::Result, exit::Exit, output::note};

/// Answer calls that wait for you
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The approvals, as `harnessctl approvals` shows them
    #[arg(value_name = "ID", required = true)]
    ids: Vec<i64>,
    /// Give the same answer to all calls within the scope that the card shows
    #[arg(long)]
    always: bool,
}

pub(crate) async fn approve(arguments: Arguments, context: &Context) -> Result<Exit> {
    let answer = if arguments.always {
        Answer::AllowAlways
    } else {
        Answer::Allow
    };
    give(&arguments.ids, answer, context).await
}

pub(crate) async fn reject(arguments: Arguments, context: &Context) -> Result<Exit> {
    let answer = if arguments.always {
        Answer::RejectAlways
    } else {
        Answer::Reject
    };
    give(&arguments.ids, answer, context).await
}

async fn give(ids: &[i64], answer: Answer, context: &Context) -> Result<Exit> {
    let ids: Vec<ApprovalId> = ids.iter().copied().map(ApprovalId).collect();
    let answers = context.client()?.answer(&ids, answer).await?;
    context.show(&answers, |answers| {
        answers.answered.iter().map(describe).collect()
    })?;
    for refused in &answers.refused {
        note(&format!("harnessctl: {refused}"));
    }
    Ok(if answers.refused.is_empty() {
        Exit::DONE
    } else {
        Exit::FAILED
    })
}

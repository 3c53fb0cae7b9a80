//! Approvals: reading them, answering them, answers for good, and why a call would be asked about.

use harness_model::{Answer, Approval, ApprovalId, Explanation, Standing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    parameters::{NoQuery, limit},
    request::{Asked, Sent},
    response::{Found, Rejection},
};

type Answered<T> = Result<Found<T>, Rejection>;

/// Which questions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalQuery {
    /// All of the newest ones, whatever became of them, instead of those that wait.
    #[serde(default)]
    all: bool,
    /// How many entries, 1 to 1000; default 100, a larger number is clamped.
    #[serde(default)]
    limit: Option<u32>,
}

pub(super) async fn list(asked: Asked<(), ApprovalQuery, ()>) -> Answered<Vec<Approval>> {
    let limit = limit(asked.query.limit)?;
    Ok(Found(
        asked.control.approvals(!asked.query.all, limit).await?,
    ))
}

/// What `POST /v1/approvals/answer` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// The questions: each is answered the same, or none.
    #[schemars(length(min = 1, max = 100))]
    ids: Vec<ApprovalId>,
    /// The answer.
    answer: Answer,
}

/// What became of each.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnsweredBody {
    /// Those that were open and have this answer now.
    answered: Vec<Approval>,
    /// Why the others have not, one for each.
    refused: Vec<String>,
}

pub(super) async fn answer(asked: Asked<(), NoQuery, Sent<AnswerBody>>) -> Answered<AnsweredBody> {
    let AnswerBody { ids, answer } = asked.body.0;
    let by = asked
        .caller
        .uid
        .map_or_else(|| "token".to_owned(), |uid| format!("uid {uid}"));
    let mut body = AnsweredBody {
        answered: Vec::new(),
        refused: Vec::new(),
    };
    let alone = ids.len() == 1;
    for id in ids {
        match asked.control.approval_answer(id, answer, by.clone()).await {
            Ok(approval) => body.answered.push(approval),
            Err(refusal) if alone => return Err(refusal.into()),
            Err(refusal) => body.refused.push(refusal.message),
        }
    }
    Ok(Found(body))
}

pub(super) async fn standing(asked: Asked<(), NoQuery, ()>) -> Answered<Vec<Standing>> {
    Ok(Found(asked.control.standing().await?))
}

/// What `POST /v1/approvals/revoke` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RevokeBody {
    /// The id of an answer for good.
    id: i64,
}

/// Answers with what still stands.
pub(super) async fn revoke(asked: Asked<(), NoQuery, Sent<RevokeBody>>) -> Answered<Vec<Standing>> {
    asked.control.standing_revoke(asked.body.0.id).await?;
    Ok(Found(asked.control.standing().await?))
}

/// What `POST /v1/explain` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainBody {
    /// The tool: `GROUP__TOOL`, or a name that only one group has.
    tool: String,
    /// Its input.
    #[serde(default)]
    input: Map<String, Value>,
}

/// Runs nothing and asks nobody.
pub(super) async fn explain(asked: Asked<(), NoQuery, Sent<ExplainBody>>) -> Answered<Explanation> {
    let ExplainBody { tool, input } = asked.body.0;
    Ok(Found(asked.control.explain(tool, input).await?))
}

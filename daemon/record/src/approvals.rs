//! Approvals: questions, one-off answers bound to the exact call, and answers for good.
//!
//! All of it is synced to the disk: an answer that was given must not be forgotten by a power cut.

use harness_model::{Answer, Approval, ApprovalId, ApprovalState, Question, Standing, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::{
    error::{Fault, Result},
    record::Record,
    row,
    writer::Durability,
};

/// What the record knows of an exact call that has to be asked about.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A person said yes to it, and this was the one time.
    Granted(ApprovalId),
    /// A person said no to it.
    Rejected(ApprovalId),
    /// It was asked before and has no answer yet.
    Pending(Approval),
    /// It is asked now.
    New(Approval),
}

pub(crate) const OPEN: &str = "SELECT id, state, expires_at, answered_by, card FROM approvals \
     INDEXED BY approvals_open WHERE digest = ?1 AND state IN ('pending', 'allowed', 'rejected') ORDER BY id DESC LIMIT 1";

pub(crate) const PENDING: &str = "SELECT id, state, expires_at, answered_by, card FROM approvals \
     INDEXED BY approvals_pending WHERE state = 'pending' ORDER BY id";

pub(crate) const EXPIRED: &str = "SELECT id, state, expires_at, answered_by, card FROM approvals \
     INDEXED BY approvals_expiry WHERE state IN ('pending', 'allowed', 'rejected') AND expires_at <= ?1";

pub(crate) const ONE: &str =
    "SELECT id, state, expires_at, answered_by, card FROM approvals WHERE id = ?1";

/// The bound is for the plan: nothing lies beyond it.
pub(crate) const LIST: &str = "SELECT id, state, expires_at, answered_by, card FROM approvals \
     WHERE id < 9223372036854775807 ORDER BY id DESC LIMIT ?1";

pub(crate) const ANSWER: &str =
    "UPDATE approvals SET state = ?2, expires_at = ?3, answered_by = ?4 WHERE id = ?1";

pub(crate) const USE: &str =
    "UPDATE approvals SET state = 'used' WHERE id = ?1 AND state = 'allowed'";

pub(crate) const EXPIRE: &str = "UPDATE approvals SET state = 'expired' WHERE id = ?1";

/// All of them: there are as many as a person has given.
pub(crate) const STANDING: &str =
    "SELECT id, tool_group, tool, scope, allow, created_at, answered_by FROM standing ORDER BY id";

pub(crate) const REVOKE: &str = "DELETE FROM standing WHERE id = ?1";

impl Record {
    /// Uses up a yes to this exact call, finds a no or a question that is open, or writes a new question.
    pub async fn approval_ask(&self, question: Question, now: Timestamp) -> Result<Asked> {
        self.write(Durability::Full, move |connection| {
            ask(connection, &question, now)
        })
        .await
    }

    /// Whether there is a yes to this exact call that nobody has used; it stays there.
    pub async fn approval_is_granted(&self, digest: &str, now: Timestamp) -> Result<bool> {
        let digest = digest.to_owned();
        self.read(move |connection| {
            let open = connection
                .prepare_cached(OPEN)?
                .query_row([&digest], stored)
                .optional()?;
            Ok(open
                .is_some_and(|open| open.state == ApprovalState::Allowed && open.expires_at > now))
        })
        .await
    }

    /// Writes a person's answer; none when the question is not open (any more). An answer for good is written
    /// with it.
    pub async fn approval_answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        by: String,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<Option<Approval>> {
        self.write(Durability::Full, move |connection| {
            let Some(approval) =
                one(connection, id)?.filter(|approval| approval.state == ApprovalState::Pending)
            else {
                return Ok(None);
            };
            let state = if answer.is_yes() {
                ApprovalState::Allowed
            } else {
                ApprovalState::Rejected
            };
            connection.prepare_cached(ANSWER)?.execute((
                id.0,
                state.as_str(),
                expires_at.as_micros(),
                &by,
            ))?;
            if answer.is_for_good() {
                stand(connection, &approval, answer.is_yes(), &by, now)?;
            }
            Ok(Some(Approval {
                state,
                expires_at,
                answered_by: Some(by.clone()),
                ..approval
            }))
        })
        .await
    }

    /// Uses up the yes of one question; false when it is not (or no longer) a yes.
    pub async fn approval_use(&self, id: ApprovalId) -> Result<bool> {
        self.write(Durability::Full, move |connection| {
            let changed = connection.prepare_cached(USE)?.execute([id.0])?;
            Ok(changed > 0)
        })
        .await
    }

    /// Expires what is due; gives back the questions nobody answered.
    pub async fn approvals_expire(&self, now: Timestamp) -> Result<Vec<Approval>> {
        self.write(Durability::Full, move |connection| {
            let due: Vec<Approval> = connection
                .prepare_cached(EXPIRED)?
                .query_map([now.as_micros()], stored)?
                .collect::<rusqlite::Result<_>>()?;
            let mut expire = connection.prepare_cached(EXPIRE)?;
            for approval in &due {
                expire.execute([approval.id.0])?;
            }
            Ok(due
                .into_iter()
                .filter(|approval| approval.state == ApprovalState::Pending)
                .collect())
        })
        .await
    }

    /// The questions that wait for an answer, oldest first.
    pub async fn approvals_pending(&self) -> Result<Vec<Approval>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(PENDING)?;
            row::readable(statement.query_map((), stored)?)
        })
        .await
    }

    /// The newest questions, whatever became of them.
    pub async fn approvals(&self, limit: u32) -> Result<Vec<Approval>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(LIST)?;
            row::readable(statement.query_map([limit], stored)?)
        })
        .await
    }

    /// One question.
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>> {
        self.read(move |connection| one(connection, id)).await
    }

    /// The answers for good, oldest first.
    pub async fn standing(&self) -> Result<Vec<Standing>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(STANDING)?;
            row::readable(statement.query_map((), |row| {
                Ok(Standing {
                    id: row.get(0)?,
                    group: row.get(1)?,
                    tool: row.get(2)?,
                    scope: row::json(row, 3)?,
                    allow: row.get(4)?,
                    created_at: row::time(row, 5)?,
                    answered_by: row.get(6)?,
                })
            })?)
        })
        .await
    }

    /// Takes an answer for good back, and with it what is left of the question that it answered; false when
    /// there is none of that id.
    pub async fn standing_revoke(&self, id: i64) -> Result<bool> {
        self.write(Durability::Full, move |connection| {
            connection.prepare_cached(LEFT_OVER)?.execute([id])?;
            let revoked = connection.prepare_cached(REVOKE)?.execute([id])?;
            Ok(revoked > 0)
        })
        .await
    }
}

/// A one-off yes that came with the answer for good and was not needed.
pub(crate) const LEFT_OVER: &str = "UPDATE approvals INDEXED BY approvals_expiry SET state = 'expired' \
     WHERE state IN ('pending', 'allowed', 'rejected') AND state <> 'pending' AND EXISTS ( \
         SELECT 1 FROM standing WHERE standing.id = ?1 AND standing.tool_group = card ->> 'group' \
         AND standing.tool = card ->> 'tool' AND json(standing.scope) = json(card -> 'scope'))";

fn ask(
    connection: &Connection,
    question: &Question,
    now: Timestamp,
) -> std::result::Result<Asked, Fault> {
    let open = connection
        .prepare_cached(OPEN)?
        .query_row([&question.digest], stored)
        .optional()?;
    if let Some(open) = open.filter(|open| open.expires_at > now) {
        return Ok(match open.state {
            ApprovalState::Pending => Asked::Pending(open),
            ApprovalState::Allowed => {
                connection.prepare_cached(USE)?.execute([open.id.0])?;
                Asked::Granted(open.id)
            }
            ApprovalState::Rejected | ApprovalState::Used | ApprovalState::Expired => {
                Asked::Rejected(open.id)
            }
        });
    }
    let approval = &question.approval;
    connection
        .prepare_cached(
            "INSERT INTO approvals (digest, state, expires_at, created_at, card) \
             VALUES (:digest, 'pending', :expires_at, :created_at, :card)",
        )?
        .execute(named_params! {
            ":digest": question.digest,
            ":expires_at": approval.expires_at.as_micros(),
            ":created_at": approval.created_at.as_micros(),
            ":card": row::to_json(approval)?,
        })?;
    let id = ApprovalId(connection.last_insert_rowid());
    Ok(Asked::New(Approval {
        id,
        state: ApprovalState::Pending,
        ..approval.clone()
    }))
}

fn stand(
    connection: &Connection,
    approval: &Approval,
    allow: bool,
    by: &str,
    now: Timestamp,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO standing (tool_group, tool, scope, allow, created_at, answered_by) \
             VALUES (:group, :tool, :scope, :allow, :created_at, :by) \
             ON CONFLICT (tool_group, tool, scope) DO UPDATE SET allow = excluded.allow, \
             created_at = excluded.created_at, answered_by = excluded.answered_by",
        )?
        .execute(named_params! {
            ":group": approval.group,
            ":tool": approval.tool,
            ":scope": row::to_json(&approval.scope)?,
            ":allow": allow,
            ":created_at": now.as_micros(),
            ":by": by,
        })?;
    Ok(())
}

fn one(connection: &Connection, id: ApprovalId) -> rusqlite::Result<Option<Approval>> {
    connection
        .prepare_cached(ONE)?
        .query_row([id.0], stored)
        .optional()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let card: Approval = row::json(row, 4)?;
    Ok(Approval {
        id: ApprovalId(row.get(0)?),
        state: row::word(row, 1, ApprovalState::from_word)?,
        expires_at: row::time(row, 2)?,
        answered_by: row.get(3)?,
        ..card
    })
}

//! Answers, and questions that nobody answers.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use harness_model::{
    Answer, Approval, ApprovalId, ApprovalState, ErrorCode, Refusal, Standing, Timestamp,
};

use super::Approvals;
use crate::wakes::unavailable;

impl Approvals {
    /// Writes a person's answer and lets a held call go on. The fronts see to it that it is a person.
    pub(crate) async fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        by: String,
        timeout: Duration,
    ) -> Result<Approval, Refusal> {
        let now = Timestamp::from(SystemTime::now());
        let answered = self
            .record
            .approval_answer(id, answer, by, now, now.plus(timeout))
            .await;
        let Some(approval) = answered.map_err(|error| unavailable(&error))? else {
            return Err(self.not_open(id).await);
        };
        if answer.is_for_good() {
            self.read_grants()
                .await
                .map_err(|error| unavailable(&error))?;
        }
        self.resolved(&approval);
        tracing::info!(approval = %id, answer = %answer, by = approval.answered_by, "approval answered");
        Ok(approval)
    }

    async fn not_open(&self, id: ApprovalId) -> Refusal {
        match self.record.approval(id).await {
            Ok(Some(approval)) => {
                let message = format!(
                    "approval {id} is {} already: there is nothing to answer",
                    approval.state
                );
                Refusal::new(ErrorCode::ToolError, message)
            }
            Ok(None) => Refusal::new(
                ErrorCode::UnknownCommand,
                format!("there is no approval {id}"),
            ),
            Err(error) => unavailable(&error),
        }
    }

    /// Takes an answer for good back.
    pub(crate) async fn revoke(&self, id: i64) -> Result<(), Refusal> {
        let revoked = self
            .record
            .standing_revoke(id)
            .await
            .map_err(|error| unavailable(&error))?;
        if !revoked {
            return Err(Refusal::new(
                ErrorCode::UnknownCommand,
                format!("there is no standing answer {id}"),
            ));
        }
        self.read_grants()
            .await
            .map_err(|error| unavailable(&error))
    }

    /// The answers for good.
    pub(crate) async fn standing(&self) -> Result<Vec<Standing>, Refusal> {
        self.record
            .standing()
            .await
            .map_err(|error| unavailable(&error))
    }

    /// The questions that wait, or the newest ones whatever became of them.
    pub(crate) async fn list(&self, pending: bool, limit: u32) -> Result<Vec<Approval>, Refusal> {
        let list = if pending {
            self.record.approvals_pending().await
        } else {
            self.record.approvals(limit).await
        };
        list.map_err(|error| unavailable(&error))
    }

    /// Rejects what nobody answers in time; sleeps until the next question's time is over.
    pub(crate) async fn expire(self: Arc<Self>) {
        let mut asked = self.asked.subscribe();
        loop {
            let now = Timestamp::from(SystemTime::now());
            match self.record.approvals_expire(now).await {
                Ok(expired) => {
                    for approval in expired {
                        self.resolved(&Approval {
                            state: ApprovalState::Expired,
                            ..approval
                        });
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "questions whose time is over cannot be closed");
                }
            }
            let pending = self.record.approvals_pending().await.unwrap_or_default();
            let next = pending.iter().map(|approval| approval.expires_at).min();
            let sleep = async {
                match next {
                    // A clock that is set only moves the moment; a second more is no harm.
                    Some(next) => {
                        tokio::time::sleep(next.since(now) + Duration::from_secs(1)).await;
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = sleep => {}
                changed = asked.changed() => if changed.is_err() { return },
            }
        }
    }
}

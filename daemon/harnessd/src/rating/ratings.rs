//! The rater's words, in memory and in the record.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, Instant, SystemTime},
};

use harness_model::{Timestamp, Tool, ToolRating};
use harness_record::Record;

/// How long a rater that failed is not asked again about the same: one that hangs does not hold up every call.
const PAUSE: Duration = Duration::from_mins(1);

/// The longest reason, in characters.
const REASON: usize = 500;

/// A group and one of its tools.
type Key = (String, String);

/// What the rater said of every tool it was asked about.
pub(crate) struct Ratings {
    record: Record,
    known: RwLock<HashMap<Key, Known>>,
    /// One at a time asks about a tool; the others wait for what it hears.
    asking: Mutex<HashMap<Key, Arc<tokio::sync::Mutex<()>>>>,
}

/// The newest word about a tool.
struct Known {
    /// Of the question that it answers.
    digest: String,
    said: Said,
    /// When a failure is old enough to ask again.
    again: Option<Instant>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// An answer.
    Rated {
        /// The tool changes something.
        changes: bool,
        /// Why; may be empty.
        reason: String,
    },
    /// None, and why.
    Failed(String),
}

/// An answer of the rater's.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) changes: bool,
    pub(super) reason: String,
}

impl Ratings {
    /// Reads what was said before this daemon.
    pub(crate) async fn open(record: Record) -> Result<Self, harness_record::Error> {
        let known = record.ratings().await?.into_iter().map(|rating| {
            let said = Said::Rated {
                changes: rating.changes,
                reason: rating.reason,
            };
            let known = Known {
                digest: rating.digest,
                said,
                again: None,
            };
            ((rating.group, rating.tool), known)
        });
        Ok(Self {
            known: RwLock::new(known.collect()),
            record,
            asking: Mutex::default(),
        })
    }

    /// The answer to this question, or why there is none; `None` before it was asked.
    pub(super) fn known(&self, tool: &Tool, digest: &str) -> Option<Said> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let known = known.get(&key(tool))?;
        (known.digest == digest).then(|| known.said.clone())
    }

    /// Asks, unless it is known or another caller is asking; then waits for what that one hears.
    pub(super) async fn settle(
        &self,
        tool: &Tool,
        digest: String,
        ask: impl Future<Output = Result<Word, String>>,
    ) {
        if self.is_settled(tool, &digest) {
            return;
        }
        let turn = self.turn(tool);
        let _turn = turn.lock().await;
        // Somebody may have been faster.
        if self.is_settled(tool, &digest) {
            return;
        }
        let said = match ask.await {
            Ok(word) => Said::Rated {
                changes: word.changes,
                reason: word.reason.trim().chars().take(REASON).collect(),
            },
            Err(why) => {
                tracing::warn!(
                    group = tool.group,
                    tool = tool.name,
                    why,
                    "the rater gave no rating"
                );
                Said::Failed(why.chars().take(REASON).collect())
            }
        };
        self.keep(tool, digest, said).await;
    }

    /// A new configuration is a reason to ask a rater again that failed.
    pub(crate) fn forget_failures(&self) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, known| known.again.is_none());
    }

    fn is_settled(&self, tool: &Tool, digest: &str) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(tool)).is_some_and(|known| {
            known.digest == digest && known.again.is_none_or(|again| Instant::now() < again)
        })
    }

    fn turn(&self, tool: &Tool) -> Arc<tokio::sync::Mutex<()>> {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        // What nobody asks or waits for makes room.
        asking.retain(|_, turn| Arc::strong_count(turn) > 1);
        asking.entry(key(tool)).or_default().clone()
    }

    async fn keep(&self, tool: &Tool, digest: String, said: Said) {
        let (again, written) = match &said {
            Said::Failed(_) => (Some(Instant::now() + PAUSE), Ok(())),
            Said::Rated { changes, reason } => {
                let rating = ToolRating {
                    group: tool.group.clone(),
                    tool: tool.name.clone(),
                    digest: digest.clone(),
                    changes: *changes,
                    reason: reason.clone(),
                    rated_at: Timestamp::from(SystemTime::now()),
                };
                (None, self.record.rating_put(rating).await)
            }
        };
        if let Err(error) = written {
            tracing::error!(%error, "a rating is not kept beyond this daemon");
        }
        let known = Known {
            digest,
            said,
            again,
        };
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key(tool), known);
    }
}

fn key(tool: &Tool) -> Key {
    (tool.group.clone(), tool.name.clone())
}

//! Wakes: what tells an agent that something ended while it was not looking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TaskState, Timestamp, UnitId, WakeId};

/// One wake: stored, delivered at least once, gone when it is acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wake {
    /// What `wakes_ack` takes.
    pub id: WakeId,
    /// Who sent it: `bash-task-ID`.
    pub from: String,
    /// The unit that ended.
    pub unit: UnitId,
    /// The name its maker gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How the task ended.
    pub status: TaskState,
    /// The exit code; none unless it exited.
    pub exit_code: Option<u8>,
    /// The last lines of stdout, as valid UTF-8 without escape sequences.
    pub body: String,
    /// When the task ended.
    pub created_at: Timestamp,
    /// How often it was handed out.
    pub deliveries: u32,
}

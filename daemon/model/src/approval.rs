//! Questions to a person, and their answers.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CallId, Front, SandboxRequest, SandboxRules, Timestamp, unit::words};

/// An approval's place in the record, counted from 1 and never used again.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ApprovalId(pub i64);

impl fmt::Display for ApprovalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

words! {
    /// Where a question stands.
    ApprovalState {
        /// Nobody has answered yet.
        Pending = "pending",
        /// Yes: the same call may be made once.
        Allowed = "allowed",
        /// Yes, and the call was made.
        Used = "used",
        /// No.
        Rejected = "rejected",
        /// Nobody answered in time: no, and nothing is remembered.
        Expired = "expired",
    }
}

words! {
    /// A person's answer.
    Answer {
        /// This exact call, once.
        Allow = "allow",
        /// This and every call within the scope that was shown.
        AllowAlways = "allow_always",
        /// Not this call.
        Reject = "reject",
        /// Neither this nor any call within the scope that was shown.
        RejectAlways = "reject_always",
    }
}

impl Answer {
    /// Whether it is a yes.
    #[must_use]
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Allow | Self::AllowAlways)
    }

    /// Whether it holds for calls to come.
    #[must_use]
    pub const fn is_for_good(self) -> bool {
        matches!(self, Self::AllowAlways | Self::RejectAlways)
    }
}

/// How far an answer for good reaches: as far as what was shown, and no further.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Scope {
    /// Every call of the tool.
    Tool,
    /// Every script whose commands all match these patterns.
    Commands(Vec<String>),
    /// This text alone: it could not be read as a list of commands.
    Text(String),
    /// What the scope says, for calls that open this much of the sandbox.
    Sandbox {
        /// What is opened.
        opened: SandboxRequest,
        /// Of which calls.
        scope: Box<Scope>,
    },
}

/// A question, as the card shows it: exactly what will run, and which rule asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// What it is answered by.
    pub id: ApprovalId,
    /// The call that asked first.
    pub call: CallId,
    /// The way that call came in.
    pub front: Front,
    /// The tool's group.
    pub group: String,
    /// The tool's name.
    pub tool: String,
    /// The input as it will be carried out: rewritten and clamped already.
    pub input: Map<String, Value>,
    /// Where it will run.
    pub cwd: String,
    /// The rule that asks.
    pub rule: String,
    /// Why: `destructive`, `open_world`, `mutating`, `policy`, `sandbox` or `rated_changes`.
    pub why: String,
    /// What an answer for good would cover.
    pub scope: Scope,
    /// Where it stands.
    pub state: ApprovalState,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When an unanswered question counts as rejected, and an unused yes as gone.
    pub expires_at: Timestamp,
    /// Who answered: `uid 1000`, `token` over TCP, or `elicitation` with the client and its session.
    pub answered_by: Option<String>,
}

/// A new question, before it has an id.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question, its id not yet valid.
    pub approval: Approval,
    /// Names the exact call: tool, canonical input, working directory.
    pub digest: String,
}

/// An answer for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// What it is revoked by.
    pub id: i64,
    /// The tool's group.
    pub group: String,
    /// The tool's name.
    pub tool: String,
    /// How far it reaches.
    pub scope: Scope,
    /// It is a yes.
    pub allow: bool,
    /// When it was given.
    pub created_at: Timestamp,
    /// Who gave it.
    pub answered_by: String,
}

/// Why a call would be let through, asked about or refused (`harnessctl explain`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// Why a person would be asked.
    pub why: Option<String>,
    /// Every rule that had something to say, in the order of evaluation.
    pub rules: Vec<ExplainedRule>,
    /// What an answer for good would cover.
    pub scope: Scope,
    /// The rules that it would run under, where they take something away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxRules>,
    /// The hooks that such a call goes through, in their order. None of them was run: one that rewrites the input makes
    /// it another call than the one that is explained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<ExplainedHook>,
}

/// One hook of an explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedHook {
    /// Its place among the `[[hook]]` entries, counted from 1.
    pub number: u32,
    /// `pre_call` or `post_call`.
    pub event: String,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// What happens when it fails: `block` or `allow`.
    pub on_error: String,
}

/// One rule of an explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedRule {
    /// Where it stands.
    pub layer: String,
    /// What it says, in the words of the configuration.
    pub rule: String,
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// What would change it.
    pub remedy: String,
}

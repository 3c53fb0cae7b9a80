//! The inputs of the tools, which are their schemas too.

use harness_model::{Signal, Stream, UnitId};
use schemars::JsonSchema;
use serde::Deserialize;

fn default_limit() -> u32 {
    20
}

fn default_bytes() -> u32 {
    16_384
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    /// The task.
    pub(super) id: UnitId,
    /// Wait so long for the end; at most 30.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub(super) wait_seconds: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// How many at most, newest first.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: u32,
    /// `next` of the page before.
    pub(super) before: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// The task.
    pub(super) id: UnitId,
    /// Which stream; default stdout.
    pub(super) stream: Option<Stream>,
    /// Where to begin, in bytes.
    #[serde(default)]
    pub(super) offset: u64,
    /// How many bytes at most.
    #[serde(default = "default_bytes")]
    #[schemars(range(min = 1, max = 262_144))]
    pub(super) limit: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    /// The task.
    pub(super) id: UnitId,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Kill {
    /// The task.
    pub(super) id: UnitId,
    /// A name like "SIGUSR1".
    pub(super) signal: Signal,
    /// Signal every process of the task instead of its main process.
    #[serde(default)]
    pub(super) all: bool,
}

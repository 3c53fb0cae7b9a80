//! What is known of tools whose authors say nothing of them.
//!
//! The rater is asked once about each, with what is known of it; its word is kept in the record, under a digest of the
//! question and of the rater's command. Where there is no word to be had, the tool counts as changing something, which
//! is what MCP says of a tool that declares nothing.

mod ratings;
#[cfg(test)]
mod tests;

use harness_authorize::Rating;
use harness_model::{Annotations, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(crate) use ratings::Ratings;
use ratings::{Said, Word};

use crate::{
    approvals::{canonical, hex},
    config::{ChildEnvironment, Loaded, VariableMap},
    harness::Harness,
    program::Program,
};

/// How long the rater may take.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// Whether and by whom tools without annotations are rated.
pub(crate) enum Rater {
    /// `rate_unlabeled = false`: they are not.
    Off,
    /// Nobody is named who could.
    Nobody,
    /// `rater`
    Program(Program),
}

/// What the rater reads.
#[derive(Serialize)]
struct Question<'a> {
    group: &'a str,
    tool: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    annotations: Annotations,
}

/// What it says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    changes: bool,
    #[serde(default)]
    reason: String,
}

impl Rater {
    pub(crate) fn of(loaded: &Loaded, environment: &ChildEnvironment) -> Self {
        let approval = &loaded.config.approval;
        match (approval.rate_unlabeled, approval.rater.is_empty()) {
            (false, _) => Self::Off,
            (true, true) => Self::Nobody,
            (true, false) => Self::Program(Program {
                argv: environment.command(&approval.rater),
                environment: environment.with(&VariableMap::new()),
                cwd: loaded.workspace.clone(),
                timeout: TIMEOUT,
            }),
        }
    }
}

impl Harness {
    /// Has the rater asked about the tool, if its word matters and is not known yet.
    pub(crate) async fn rate(&self, tool: &Tool) {
        let in_force = self.in_force();
        let Rater::Program(rater) = &in_force.rater else {
            return;
        };
        if !in_force.policy.heeds_rating(tool) {
            return;
        }
        let question = question(tool);
        let digest = digest(rater, &question);
        let ask = async {
            let answer = rater.ask(self.spawner(), question.as_bytes()).await;
            let answer = answer.map_err(|error| error.to_string())?;
            understand(&answer)
        };
        self.ratings().settle(tool, digest, ask).await;
    }

    /// What is known of the tool, if that matters.
    pub(crate) fn rating(&self, tool: &Tool) -> Option<Rating> {
        let in_force = self.in_force();
        if !in_force.policy.heeds_rating(tool) {
            return None;
        }
        let said = match &in_force.rater {
            Rater::Off => return None,
            Rater::Nobody => None,
            Rater::Program(rater) => {
                let digest = digest(rater, &question(tool));
                Some((rater.name(), self.ratings().known(tool, &digest)))
            }
        };
        Some(rating(tool, said))
    }
}

fn rating(tool: &Tool, said: Option<(&str, Option<Said>)>) -> Rating {
    let mode = format!("set [tool.{}__{}] mode", tool.group, tool.name);
    let (changes, says, remedy) = match said {
        None => (
            true,
            "the tool says nothing of itself, and [approval] rater names nobody who rates it"
                .to_owned(),
            format!("{mode}, name a rater, or set [approval] rate_unlabeled = false"),
        ),
        Some((rater, None)) => (true, format!("{rater} has not rated the tool yet"), mode),
        Some((rater, Some(Said::Failed(why)))) => (
            true,
            format!("{rater} gave no rating, so the tool counts as changing something: {why}"),
            format!("see to [approval] rater, or {mode}"),
        ),
        Some((rater, Some(Said::Rated { changes, reason }))) => {
            let what = if changes { "something" } else { "nothing" };
            let reason = if reason.is_empty() {
                reason
            } else {
                format!(": {reason}")
            };
            (
                changes,
                format!("{rater} rates the tool as changing {what}{reason}"),
                format!("{mode}, or another [approval] rater"),
            )
        }
    };
    Rating {
        changes,
        says,
        remedy,
    }
}

/// The question as it is sent, whatever order a server sends its schema's keys in.
fn question(tool: &Tool) -> String {
    let question = Question {
        group: &tool.group,
        tool: &tool.name,
        description: &tool.description,
        input_schema: &tool.input_schema,
        annotations: tool.annotations,
    };
    // Every key is a string, so it has a JSON form.
    let question = serde_json::to_value(question).unwrap_or_default();
    let mut text = canonical(&question);
    text.push('\n');
    text
}

/// Names the question and who is asked; SHA-256 in hexadecimal.
fn digest(rater: &Program, question: &str) -> String {
    let mut hash = Sha256::new();
    for part in rater.argv.iter().map(String::as_str).chain([question]) {
        // The length before each part, so that no two lists read the same.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

fn understand(answer: &[u8]) -> Result<Word, String> {
    let text = std::str::from_utf8(answer);
    let text = text.map_err(|_| "its answer is not UTF-8".to_owned())?;
    if !text.trim_start().starts_with('{') {
        return Err("its answer is no JSON object".to_owned());
    }
    let answer: Answer = serde_json::from_str(text)
        .map_err(|error| format!("its answer is not understood: {error}"))?;
    Ok(Word {
        changes: answer.changes,
        reason: answer.reason,
    })
}

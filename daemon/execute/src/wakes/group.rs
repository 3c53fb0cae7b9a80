//! The group itself.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use harness_model::{
    Annotations, Call, CallContext, ErrorCode, Outcome, Refusal, Tool, ToolOutput, Wake,
};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::input;
use crate::{ToolGroup, group, schema, store::WakeStore};

/// The longest `wakes_recv` waits.
pub const LONGEST_WAIT: Duration = Duration::from_mins(3);

/// The tool group `wakes`.
pub struct Wakes {
    store: Arc<dyn WakeStore>,
}

impl Wakes {
    /// The group over a record.
    #[must_use]
    pub fn new(store: Arc<dyn WakeStore>) -> Self {
        Self { store }
    }

    /// The due wakes, oldest first; when there are none, waits for the first.
    ///
    /// # Errors
    /// The record cannot be read.
    pub async fn receive(&self, wait: Duration, limit: u32) -> Result<Vec<Wake>, Refusal> {
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        loop {
            // Made before the look, so that a wake between the two is not missed.
            let arrival = self.store.arrival();
            let wakes = self.store.take(limit).await?;
            if !wakes.is_empty() || timeout_at(deadline, arrival).await.is_err() {
                return Ok(wakes);
            }
        }
    }

    async fn wakes_recv(&self, input: input::Receive) -> Outcome {
        if input.wait_seconds.is_nan() || input.wait_seconds < 0.0 {
            let message = format!(
                "wait_seconds is {}: it must be 0 or more",
                input.wait_seconds
            );
            return Err(Refusal::new(ErrorCode::InvalidInput, message));
        }
        let wait = Duration::try_from_secs_f64(input.wait_seconds).unwrap_or(LONGEST_WAIT);
        let wakes = self.receive(wait, input.limit).await?;
        Ok(ToolOutput::new(text(&wakes), json!({ "wakes": wakes })))
    }

    async fn wakes_ack(&self, input: input::Acknowledge) -> Outcome {
        let asked = input.ids.len();
        let ids = self.store.acknowledge(input.ids).await?;
        let text = match asked - ids.len() {
            0 => format!("acknowledged {}", ids.len()),
            rest => format!(
                "acknowledged {}; {rest} were acknowledged before or never existed",
                ids.len()
            ),
        };
        Ok(ToolOutput::new(text, json!({ "acknowledged": ids })))
    }
}

fn text(wakes: &[Wake]) -> String {
    let mut text = if wakes.is_empty() {
        "no wakes".to_owned()
    } else {
        String::new()
    };
    for wake in wakes {
        let code = wake
            .exit_code
            .map(|code| format!(", exit code {code}"))
            .unwrap_or_default();
        let name = wake
            .name
            .as_deref()
            .map(|name| format!(" ({name})"))
            .unwrap_or_default();
        let _infallible = writeln!(
            text,
            "wake {} from {}{name}: {}{code}",
            wake.id, wake.from, wake.status
        );
        for line in wake.body.lines() {
            let _infallible = writeln!(text, "  {line}");
        }
    }
    text.trim_end().to_owned()
}

impl ToolGroup for Wakes {
    fn name(&self) -> &'static str {
        "wakes"
    }

    fn tools(&self) -> Vec<Tool> {
        vec![
            tool(
                "wakes_recv",
                "Receive wakes",
                "The wakes that are due: tasks that ended while nobody waited for them. With wait_seconds (at most 180) it \
                 waits for the first. Each is handed out again until wakes_ack.",
                schema::input::<input::Receive>(),
                true,
            ),
            tool(
                "wakes_ack",
                "Acknowledge wakes",
                "Say that these wakes were dealt with; they are not handed out again.",
                schema::input::<input::Acknowledge>(),
                false,
            ),
        ]
    }

    fn execute<'a>(&'a self, call: &'a Call, _context: &'a CallContext) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match call.tool.as_str() {
                "wakes_recv" => self.wakes_recv(group::input(call)?).await,
                "wakes_ack" => self.wakes_ack(group::input(call)?).await,
                _ => Err(group::no_such_tool(call)),
            }
        })
    }
}

fn tool(
    name: &str,
    title: &str,
    description: &str,
    input_schema: serde_json::Value,
    read_only: bool,
) -> Tool {
    Tool {
        group: "wakes".to_owned(),
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description: description.to_owned(),
        input_schema,
        output_schema: None,
        annotations: Annotations {
            read_only_hint: Some(read_only),
            destructive_hint: Some(false),
            idempotent_hint: Some(true),
            open_world_hint: Some(false),
        },
        direct: true,
    }
}

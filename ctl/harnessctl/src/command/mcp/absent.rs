//! What the client is told when there is no harness.

use std::io::{self, BufRead as _, Read as _, Write as _};

use harness_client::Error;
use serde_json::{Value, json};

use crate::exit::Exit;

/// A first message longer than this is no initialize request.
const MAX_LINE: u64 = 1 << 20;

/// JSON-RPC's code for errors of a server's own making.
const SERVER_ERROR: i32 = -32000;

/// Answers the first request with the reason, so that it is in the client's own log.
pub(super) fn answer(error: &Error) -> Exit {
    // Where stderr or stdout is closed, the exit code alone tells it.
    writeln!(io::stderr(), "harnessctl: {error}").ok();
    let mut lines = io::stdin().lock().take(MAX_LINE);
    let mut line = Vec::new();
    while lines
        .read_until(b'\n', &mut line)
        .is_ok_and(|length| length > 0)
    {
        if let Some(id) = request_id(&line) {
            let error = json!({ "code": SERVER_ERROR, "message": error.to_string() });
            let reply = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            writeln!(io::stdout().lock(), "{reply}").ok();
            break;
        }
        line.clear();
    }
    if matches!(error, Error::InvalidAgent { .. }) {
        Exit::USAGE
    } else {
        Exit::UNREACHABLE
    }
}

/// The id of a request; none for a notification or what is no JSON.
fn request_id(line: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    message.get("method")?;
    message.get("id").filter(|id| !id.is_null()).cloned()
}

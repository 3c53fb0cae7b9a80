//! MCP servers that run commands.

use std::path::Path;

use harness_tests::command::command;
use serde_json::{Value, json};

use super::{Peer, installed};
use crate::{
    error::PeerError,
    session::{Session, answered},
};

type Started = Result<Box<dyn Peer>, PeerError>;

/// A server, and how it runs one command.
struct Server {
    session: Session,
    run: fn(&mut Session) -> Result<(), PeerError>,
}

impl Peer for Server {
    fn run(&mut self) -> Result<(), PeerError> {
        (self.run)(&mut self.session)
    }
}

fn node(file: &str, home: &Path) -> Result<Session, PeerError> {
    let mut node = command("node");
    node.arg(installed("node", &format!("node_modules/{file}"))?)
        .env("HOME", home);
    Session::open(node)
}

fn python(set: &str, program: &str, home: &Path) -> Result<Session, PeerError> {
    let mut server = command(installed(set, &format!("{set}/bin/{program}"))?);
    server.env("HOME", home);
    Session::open(server)
}

pub(super) fn commands(scratch: &Path) -> Started {
    let session = node("mcp-server-commands/build/index.js", scratch)?;
    let run = |session: &mut Session| {
        session
            .call("run_command", &json!({ "command": "true" }))
            .map(drop)
    };
    Ok(Box::new(Server { session, run }))
}

/// It starts programs without a shell, and has no way to wait: it is asked until it says that the job has ended.
pub(super) fn background_job(scratch: &Path) -> Started {
    let session = python("mcp-background-job", "mcp-background-job", scratch)?;
    Ok(Box::new(Server {
        session,
        run: run_as_job,
    }))
}

fn run_as_job(session: &mut Session) -> Result<(), PeerError> {
    let job = session.call("execute_command", &json!({ "command": "bash -c true" }))?;
    loop {
        let status = session.call(
            "get_job_status",
            &json!({ "job_id": job["structuredContent"]["job_id"] }),
        )?;
        match status["structuredContent"]["status"].as_str() {
            Some("completed") => return Ok(()),
            Some("running" | "pending") => {}
            _ => return Err(answered(&status)),
        }
    }
}

pub(super) fn yieldshell(scratch: &Path) -> Started {
    let session = python("mcp-yieldshell", "mcp-yieldshell", scratch)?;
    let run = |session: &mut Session| {
        let result = session.call(
            "execute",
            &json!({ "command": "true", "side_effects": ["NONE"] }),
        )?;
        if says(&result, "exit") {
            Ok(())
        } else {
            Err(answered(&result))
        }
    };
    Ok(Box::new(Server { session, run }))
}

pub(super) fn desktop_commander(scratch: &Path) -> Started {
    let mut session = node("@wonderwhy-er/desktop-commander/dist/index.js", scratch)?;
    session.call(
        "set_config_value",
        &json!({ "key": "telemetryEnabled", "value": false }),
    )?;
    let run = |session: &mut Session| {
        let result = session.call(
            "start_process",
            &json!({ "command": "true", "timeout_ms": 10_000 }),
        )?;
        if says(&result, "Process started") {
            Ok(())
        } else {
            Err(answered(&result))
        }
    };
    Ok(Box::new(Server { session, run }))
}

fn says(result: &Value, word: &str) -> bool {
    result["content"][0]["text"]
        .as_str()
        .is_some_and(|text| text.contains(word))
}

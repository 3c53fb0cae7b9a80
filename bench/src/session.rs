//! An MCP session over the standard streams of a server: our bridge, or a peer.

use std::{
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use harness_tests::harness::PATIENCE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use crate::error::PeerError;

/// An initialized session; the server ends with it.
pub(crate) struct Session {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
    next: u64,
}

impl Session {
    pub(crate) fn open(mut command: Command) -> Result<Self, PeerError> {
        let program = PathBuf::from(command.get_program());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut server = command
            .spawn()
            .map_err(|source| PeerError::Start { program, source })?;
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("the output is a pipe"));
        let mut session = Self {
            server,
            input,
            output,
            line: String::new(),
            next: 0,
        };
        let client = json!({ "name": "bench", "version": "0" });
        let parameters =
            json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client });
        let id = session.send("initialize", &parameters)?;
        session.reply_to(id)?;
        session.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(session)
    }

    /// Calls a tool and waits for its result.
    pub(crate) fn call(&mut self, tool: &str, input: &Value) -> Result<Value, PeerError> {
        let id = self.begin(tool, input)?;
        let result = self.reply_to(id)?["result"].take();
        if result.is_null() || result["isError"] == true {
            Err(answered(&result))
        } else {
            Ok(result)
        }
    }

    /// Calls a tool without waiting; gives the request's id.
    pub(crate) fn begin(&mut self, tool: &str, input: &Value) -> Result<u64, PeerError> {
        self.send("tools/call", &json!({ "name": tool, "arguments": input }))
    }

    /// The next reply, whichever request it answers.
    pub(crate) fn reply(&mut self) -> Result<Value, PeerError> {
        loop {
            read_line(&mut self.output, &mut self.line)?;
            let message: Value = serde_json::from_str(&self.line).map_err(io::Error::other)?;
            // Notifications and the server's own requests have a method.
            if message.get("id").is_some() && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    fn reply_to(&mut self, id: u64) -> Result<Value, PeerError> {
        loop {
            let reply = self.reply()?;
            if reply["id"] == id {
                return Ok(reply);
            }
        }
    }

    fn send(&mut self, method: &str, parameters: &Value) -> Result<u64, PeerError> {
        self.next += 1;
        self.write(
            &json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters }),
        )?;
        Ok(self.next)
    }

    fn write(&mut self, message: &Value) -> Result<(), PeerError> {
        let input = self
            .input
            .as_mut()
            .ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(input.write_all(format!("{message}\n").as_bytes())?)
    }
}

/// The next line, without which nothing goes on; one that is late or does not come is an error.
pub(crate) fn read_line(output: &mut BufReader<ChildStdout>, line: &mut String) -> io::Result<()> {
    let limit = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
    line.clear();
    // A line that has begun is there in a moment, so the wait is for its first byte.
    if output.buffer().is_empty()
        && poll(
            &mut [PollFd::new(output.get_ref(), PollFlags::IN)],
            Some(&limit),
        )? == 0
    {
        return Err(io::ErrorKind::TimedOut.into());
    }
    if output.read_line(line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

/// An answer that is not what was asked for.
pub(crate) fn answered(answer: &Value) -> PeerError {
    PeerError::Answer {
        answer: answer.to_string().chars().take(200).collect(),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Most servers end with their input; the kill is for the others, and both may come too late.
        drop(self.input.take());
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

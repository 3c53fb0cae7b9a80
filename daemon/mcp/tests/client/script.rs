//! A program on pipes that a test speaks for.

use std::{io::pipe, os::fd::OwnedFd, time::Duration};

use harness_mcp::client::{Client, ConnectError, ToolCall};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::pipe::{Receiver, Sender},
    task::JoinHandle,
    time::timeout,
};

/// Longer than anything takes; a test that waits for what never comes fails.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// What the program reads and writes.
pub(crate) struct Program {
    input: BufReader<Receiver>,
    output: Option<Sender>,
}

/// The daemon's ends, and the program's.
pub(crate) fn pipes() -> ((OwnedFd, OwnedFd), Program) {
    let (input, stdin) = pipe().unwrap();
    let (stdout, output) = pipe().unwrap();
    let program = Program {
        input: BufReader::new(Receiver::from_owned_fd(input.into()).unwrap()),
        output: Some(Sender::from_owned_fd(output.into()).unwrap()),
    };
    ((stdin.into(), stdout.into()), program)
}

/// A client that is being connected, and the program it greets.
pub(crate) fn connecting() -> (JoinHandle<Result<Client, ConnectError>>, Program) {
    let ((stdin, stdout), program) = pipes();
    (tokio::spawn(Client::over_pipes(stdin, stdout)), program)
}

/// A client in a session with a program that has tools.
pub(crate) async fn connected() -> (Client, Program) {
    let (client, mut program) = connecting();
    let hello = program.expect("initialize").await;
    program
        .answer(
            &hello,
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}),
        )
        .await;
    program.expect("notifications/initialized").await;
    (client.await.unwrap().unwrap(), program)
}

impl Program {
    /// The next message, which has to be of this method.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await.unwrap();
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// The next message; `None` when the input was closed.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = timeout(LIMIT, self.input.read_line(&mut line)).await;
        (read.unwrap().unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        self.say(&answer.to_string()).await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message, "data": {"why": [1]}});
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        self.say(&answer.to_string()).await;
    }

    /// A line of whatever kind.
    pub(crate) async fn say(&mut self, line: &str) {
        let output = self.output.as_mut().unwrap();
        timeout(LIMIT, async {
            output.write_all(line.as_bytes()).await.unwrap();
            output.write_all(b"\n").await.unwrap();
        })
        .await
        .unwrap();
    }

    /// The same from a program that may have been given up.
    pub(crate) async fn try_say(&mut self, line: &str) -> std::io::Result<()> {
        let output = self.output.as_mut().unwrap();
        output.write_all(line.as_bytes()).await?;
        output.write_all(b"\n").await
    }

    /// Closes its standard output.
    pub(crate) fn hang_up(&mut self) {
        self.output = None;
    }
}

/// A call without anything special.
pub(crate) fn call(name: &str) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        arguments: Map::new(),
        meta: None,
        report: None,
    }
}

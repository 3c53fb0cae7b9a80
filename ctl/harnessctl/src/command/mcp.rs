//! `harnessctl mcp`: standard input and output as a connection to `mcp.sock`.
//!
//! Bytes are copied, never read: two blocking threads and nothing between.

mod absent;
mod bridge;

use std::{
    io::Write as _,
    os::{fd::AsFd, unix::net::UnixStream},
};

use clap::Args;
use harness_client::{Error, Selector, Socket, Surroundings};
use serde_json::json;

use crate::exit::Exit;

/// Bridge an MCP client on standard input and output to the harness
#[derive(Debug, Args)]
#[command(
    after_help = "`harnessctl mcp-config` prints the client's configuration for this command."
)]
pub(crate) struct Arguments {
    /// Show the tools of this group alone, under their own names
    #[arg(long, value_name = "NAME", conflicts_with = "server")]
    group: Option<String>,
    /// Show the tools of this MCP server alone, under their own names
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

impl Arguments {
    /// The first line, which narrows the connection.
    fn narrowing(&self) -> Option<String> {
        let view = match (&self.group, &self.server) {
            (Some(group), _) => json!({ "group": group }),
            (None, Some(server)) => json!({ "server": server }),
            (None, None) => return None,
        };
        Some(format!("{}\n", json!({ "harness": view })))
    }
}

/// Copies until either side ends. A harness that is not there is told to the client as the answer
/// to its first request.
pub(crate) fn execute(arguments: &Arguments, selector: &Selector) -> Exit {
    let connected = selector
        .find(Socket::Mcp, &Surroundings::current())
        .and_then(|path| {
            UnixStream::connect(&path).map_err(|source| Error::of_connecting(path, source))
        })
        .and_then(|stream| match arguments.narrowing() {
            None => Ok(stream),
            Some(line) => match (&stream).write_all(line.as_bytes()) {
                Ok(()) => Ok(stream),
                Err(source) => Err(Error::of_connecting("mcp.sock".into(), source)),
            },
        });
    let stream = match connected {
        Ok(stream) => stream,
        Err(error) => return absent::answer(&error),
    };
    let descriptors = (
        std::io::stdin().as_fd().try_clone_to_owned(),
        std::io::stdout().as_fd().try_clone_to_owned(),
    );
    match descriptors {
        (Ok(input), Ok(output)) => bridge::run(input.into(), output.into(), &stream),
        (Err(_), _) | (_, Err(_)) => Exit::FAILED,
    }
}

//! `harnessctl mcp-config`: the file an MCP client takes to reach the harness.

mod claude;
mod codex;

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use harness_client::{DEFAULT_AGENT, Selector};

use crate::{
    context::Context,
    error::{Error, Result},
    exit::Exit,
    output::{note, print},
};

/// Print the configuration for an MCP client; the flags to go with it are on standard error
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The client
    #[arg(long, value_enum)]
    client: Client,
    /// Only these groups; `bash` is always there [default: all of the harness's]
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    /// Claude Code: a file for --mcp-config, or .mcp.json
    Claude,
    /// Codex: tables for config.toml
    Codex,
    /// Any client that takes {"mcpServers":…}
    Generic,
}

/// One server of the file.
struct Server {
    name: String,
    args: Vec<String>,
}

/// How long a client must be ready to wait for an answer: `wakes_recv` waits up to 180 s.
const LONGEST_CALL: Duration = Duration::from_secs(200);

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let program = std::env::current_exe().map_err(|source| Error::OwnPath { source })?;
    let program = program
        .into_os_string()
        .into_string()
        .map_err(|path| Error::NotUtf8 { path: path.into() })?;
    let place = place(&context.selector)?;
    let servers = servers(&views(&arguments.group, context).await, &place);
    let (text, flags) = match arguments.client {
        Client::Claude => (
            claude::file(&program, &servers, true),
            claude::flags(&servers),
        ),
        Client::Generic => (claude::file(&program, &servers, false), Vec::new()),
        Client::Codex => (codex::file(&program, &servers), codex::flags()),
    };
    print(&text)?;
    for line in flags {
        note(&line);
    }
    Ok(Exit::DONE)
}

/// A group or an MCP server that gets a server of its own.
#[derive(Clone, PartialEq, Eq)]
enum View {
    Group(String),
    Server(String),
}

/// What was asked for, else what the harness has, else what every harness has.
async fn views(asked: &[String], context: &Context) -> Vec<View> {
    let mut views = vec![View::Group("bash".to_owned())];
    let mut add = |view: View| {
        if !views.contains(&view) {
            views.push(view);
        }
    };
    if !asked.is_empty() {
        asked.iter().cloned().map(View::Group).for_each(add);
        return views;
    }
    let status = match context.client() {
        Ok(client) => client.status().await.map_err(Error::from),
        Err(error) => Err(error),
    };
    match status {
        Ok(status) => {
            status
                .tool_groups
                .into_iter()
                .map(View::Group)
                .for_each(&mut add);
            status
                .mcp_servers
                .into_iter()
                .map(View::Server)
                .for_each(add);
        }
        Err(error) => {
            note(&format!(
                "harnessctl: {}; the groups of every harness are listed",
                error.chain()
            ));
            add(View::Group("wakes".to_owned()));
        }
    }
    views
}

/// The options that lead to the same harness from anywhere, where it is not the default one.
fn place(selector: &Selector) -> Result<Vec<String>> {
    let mut words = Vec::new();
    if let Some(agent) = selector
        .agent
        .as_deref()
        .filter(|agent| *agent != DEFAULT_AGENT)
    {
        words.extend(["--agent".to_owned(), agent.to_owned()]);
    }
    if let Some(machine) = &selector.machine {
        words.extend(["--machine".to_owned(), machine.clone()]);
        return Ok(words);
    }
    let directory = selector.runtime_dir.clone().or_else(|| {
        let variable = std::env::var_os("HARNESS_RUNTIME_DIR").filter(|_| selector.agent.is_none());
        variable.map(PathBuf::from)
    });
    if let Some(directory) = directory {
        let absolute = std::path::absolute(&directory)?;
        let text = absolute
            .into_os_string()
            .into_string()
            .map_err(|_| Error::NotUtf8 { path: directory })?;
        words.extend(["--runtime-dir".to_owned(), text]);
    }
    Ok(words)
}

fn servers(views: &[View], place: &[String]) -> Vec<Server> {
    let server = |view: &View| {
        let (option, name) = match view {
            View::Group(name) => ("--group", name),
            View::Server(name) => ("--server", name),
        };
        let words = place.iter().cloned();
        let narrowing = ["mcp".to_owned(), option.to_owned(), name.clone()];
        Server {
            name: name.clone(),
            args: words.chain(narrowing).collect(),
        }
    };
    views.iter().map(server).collect()
}

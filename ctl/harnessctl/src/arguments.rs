//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use harness_client::Selector;

use crate::{
    command::{
        answer, approvals, call, calls, events, explain, list, mcp, mcp_config, output, plugins,
        reload, restart, run, shell, signal, status, stop, tools, units, wait, wakes,
    },
    exit::HELP,
};

/// Control a harness: its tasks, units, calls, wakes and events.
#[derive(Debug, Parser)]
#[command(name = "harnessctl", version, after_help = HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print JSON: one document, or one line for each entry of a stream
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Which harness.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The agent whose harness is meant [default: default]
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "NAME"
    )]
    pub(crate) agent: Option<String>,
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    /// The directory of the harness's sockets; $HARNESS_RUNTIME_DIR stands for it
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "DIR"
    )]
    pub(crate) runtime_dir: Option<PathBuf>,
    /// The container the harness is in, as machinectl names it; for root
    #[arg(
        short = 'M',
        long,
        global = true,
        help_heading = "Global options",
        value_name = "NAME",
        conflicts_with = "runtime_dir"
    )]
    pub(crate) machine: Option<String>,
}

impl Place {
    pub(crate) fn selector(&self) -> Selector {
        Selector {
            agent: self.agent.clone(),
            runtime_dir: self.runtime_dir.clone(),
            machine: self.machine.clone(),
        }
    }
}

/// One verb, one file in `command/`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Status(status::Arguments),
    Run(run::Arguments),
    Shell(shell::Arguments),
    List(list::Arguments),
    Output(output::Arguments),
    Wait(wait::Arguments),
    Stop(stop::Arguments),
    Restart(restart::Arguments),
    Signal(signal::Arguments),
    Wakes(wakes::Arguments),
    Events(events::Arguments),
    Units(units::Arguments),
    Plugins(plugins::Arguments),
    Tools(tools::Arguments),
    Call(call::Arguments),
    Calls(calls::Arguments),
    Approvals(approvals::Arguments),
    /// Answer calls that wait for you with yes
    Approve(answer::Arguments),
    /// Answer calls that wait for you with no
    Reject(answer::Arguments),
    Explain(explain::Arguments),
    Reload(reload::Arguments),
    Mcp(mcp::Arguments),
    McpConfig(mcp_config::Arguments),
}

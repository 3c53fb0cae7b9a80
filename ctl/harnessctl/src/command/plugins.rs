//! `harnessctl plugins`

use clap::{Args, Subcommand};
use harness_client::Client;
use harness_model::{ActiveState, PluginStatus};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, print, print_json, style::Tone, table::Table},
};

/// List MCP servers and plugins, start or stop one, or read what it wrote to standard error
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List them with their states; the same as no command
    List,
    /// Start one, whatever it was stopped or given up for
    Start {
        /// Its name
        name: String,
    },
    /// Stop one; no call starts it again
    Stop {
        /// Its name
        name: String,
    },
    /// Stop one and start it again; never two of it at once
    Restart {
        /// Its name
        name: String,
    },
    /// Print the end of what it wrote to standard error
    Logs {
        /// Its name
        name: String,
        /// How many lines at most, 10000 at the very most
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        lines: u32,
    },
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let status = match arguments.action {
        None | Some(Action::List) => {
            context.show(&client.plugins().await?, |all| list(all, context))?;
            return Ok(Exit::DONE);
        }
        Some(Action::Logs { name, lines }) => return logs(&client, &name, lines, context).await,
        Some(Action::Start { name }) => client.plugin_start(&name).await?,
        Some(Action::Stop { name }) => client.plugin_stop(&name).await?,
        Some(Action::Restart { name }) => client.plugin_restart(&name).await?,
    };
    context.show(&status, |status| {
        list(std::slice::from_ref(status), context)
    })?;
    Ok(Exit::DONE)
}

async fn logs(client: &Client, name: &str, lines: u32, context: &Context) -> Result<Exit> {
    let log = client.plugin_log(name, lines).await?;
    if context.json {
        print_json(&log)?;
    } else {
        let lines = log.text.lines().map(|line| escape::text(line) + "\n");
        print(&lines.collect::<String>())?;
    }
    Ok(Exit::DONE)
}

fn list(plugins: &[PluginStatus], context: &Context) -> String {
    let mut table = Table::new(&[
        "NAME", "KIND", "ACTIVE", "TOOLS", "RESTARTS", "PID", "PROGRAM", "ERROR",
    ]);
    for plugin in plugins {
        let tone = Tone::of_active(plugin.active_state);
        let loaded = plugin.active_state != ActiveState::Inactive || !plugin.on_demand;
        let state = if loaded {
            plugin.active_state.to_string()
        } else {
            "not loaded".to_owned()
        };
        let pid = plugin.pid.map(|pid| pid.to_string());
        let error = plugin.last_error.clone();
        let error = error.filter(|_| plugin.active_state != ActiveState::Active);
        let dash = || "-".to_owned();
        table.row(vec![
            (Tone::Plain, plugin.name.clone()),
            (Tone::Plain, plugin.kind.to_string()),
            (tone, state),
            (Tone::Plain, plugin.tools.to_string()),
            (Tone::Plain, plugin.restarts.to_string()),
            (Tone::Plain, pid.unwrap_or_else(dash)),
            (Tone::Plain, plugin.program.clone().unwrap_or_else(dash)),
            (tone, error.unwrap_or_default()),
        ]);
    }
    table.render(context.style)
}

//! The tool group `systemd`: units and their logs.
//!
//! It asks `systemctl(1)` and `journalctl(1)`, so that it may do what its user may, and polkit decides as it
//! does for a person without a terminal. Their output is bounded, and so is the time they may take.
#![expect(clippy::needless_pass_by_value, reason = "a tool owns its input")]

mod error;
mod logs;
mod manage;
mod manager;
mod status;
mod timestamp;
mod unit_name;
mod units;

pub use error::Error;
use harness_plugin_sdk::{Plugin, Tool, export};
pub use manager::{Manager, Scope, Settings};

/// The plugin.
#[must_use]
pub fn plugin() -> Plugin<Manager> {
    let version = env!("CARGO_PKG_VERSION");
    let plugin = Plugin::with_settings("systemd", version, |settings: Settings| {
        Ok(Manager::new(settings)?)
    });
    looking(plugin)
        .tool(
            Tool::new(
                "start",
                "Starts units, and says what they are then.",
                manage::start,
            )
            .title("Start units")
            .destructive()
            .idempotent()
            .open_world(false),
        )
        .tool(
            Tool::new(
                "stop",
                "Stops units, and says what they are then.",
                manage::stop,
            )
            .title("Stop units")
            .destructive()
            .idempotent()
            .open_world(false),
        )
        .tool(
            Tool::new(
                "restart",
                "Stops units and starts them again; those that do not run are started.",
                manage::restart,
            )
            .title("Restart units")
            .destructive()
            .open_world(false),
        )
        .tool(
            Tool::new(
                "reload",
                "Has units read their own configuration again, where they can.",
                manage::reload,
            )
            .title("Reload units")
            .destructive()
            .open_world(false),
        )
}

/// What changes nothing.
fn looking(plugin: Plugin<Manager>) -> Plugin<Manager> {
    plugin
        .tool(
            Tool::new("list", "Lists units with their state, by name or state; the failed ones with states: [\"failed\"].", units::list)
                .title("List units")
                .read_only()
                .open_world(false),
        )
        .tool(
            Tool::new("status", "Says how a unit is: its state, result, process, resources, files and last log lines.", status::status)
                .title("Status of a unit")
                .read_only()
                .open_world(false),
        )
        .tool(
            Tool::new("show", "Gives a unit's properties, all of them or those that are named.", status::show)
                .title("Properties of a unit")
                .read_only()
                .open_world(false),
        )
        .tool(
            Tool::new("cat", "Gives a unit's files: the unit file and its drop-ins.", status::cat)
                .title("Files of a unit")
                .read_only()
                .open_world(false),
        )
        .tool(
            Tool::new("logs", "Gives lines of the journal, the newest of those that match, oldest first.", logs::logs)
                .title("Logs")
                .read_only()
                .open_world(false),
        )
}

export!(plugin());

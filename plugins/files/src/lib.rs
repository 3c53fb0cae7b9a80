//! The tool group `files`: read, list, search, write and edit within one directory, the workspace.
//!
//! Nothing outside of it can be reached, whatever links are made while a call runs: each path is resolved by
//! the kernel below the workspace's own descriptor (`openat2(2)`, `RESOLVE_BENEATH`), and directories are
//! walked from descriptor to descriptor without following links.
#![expect(clippy::needless_pass_by_value, reason = "a tool owns its input")]

mod edit;
mod error;
mod ignored;
mod list;
mod read;
mod replace;
mod search;
mod walk;
mod workspace;
mod write;

pub use edit::edit;
pub use error::Error;
use harness_plugin_sdk::{Plugin, Tool, export};
pub use list::list;
pub use read::read;
pub use search::search;
pub use workspace::{Settings, Workspace};
pub use write::write;

/// The plugin.
#[must_use]
pub fn plugin() -> Plugin<Workspace> {
    let version = env!("CARGO_PKG_VERSION");
    Plugin::with_settings("files", version, |settings: Settings| {
        Ok(Workspace::open(&settings)?)
    })
    .instructions(
        "Paths are relative to the workspace. Look before you change: edit needs the exact text that is there.",
    )
    .tool(
        Tool::new(
            "read",
            "Reads a text file, from a line on, up to a number of lines.",
            read,
        )
        .title("Read a file")
        .read_only()
        .open_world(false),
    )
    .tool(
        Tool::new(
            "list",
            "Lists the files of a directory, or, with a glob such as **/*.rs, those below it that match.",
            list,
        )
        .title("List files")
        .read_only()
        .open_world(false),
    )
    .tool(
        Tool::new(
            "search",
            "Searches text files below a directory for lines that match a regular expression.",
            search,
        )
        .title("Search in files")
        .read_only()
        .open_world(false),
    )
    .tool(
        Tool::new(
            "write",
            "Writes a whole file: a new one, or in place of the one that is there.",
            write,
        )
        .title("Write a file")
        .destructive()
        .idempotent()
        .open_world(false),
    )
    .tool(
        Tool::new(
            "edit",
            "Replaces a text in a file by another. The old text has to be there exactly once, unless all are meant.",
            edit,
        )
        .title("Edit a file")
        .destructive()
        .open_world(false),
    )
}

export!(plugin());

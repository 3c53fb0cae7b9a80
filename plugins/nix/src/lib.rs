//! The tool group `nix`: evaluate, search, build and look at flakes, by the program `nix(1)`.
//!
//! What only looks does nothing else: lock files are not written, and an evaluation builds nothing unless it is
//! said that it may.
#![expect(clippy::needless_pass_by_value, reason = "a tool owns its input")]

mod build;
mod error;
mod eval;
mod flake;
mod program;
mod search;

pub use error::Error;
use harness_plugin_sdk::{Plugin, Tool, export};
pub use program::{Nix, Settings};

/// The plugin.
#[must_use]
pub fn plugin() -> Plugin<Nix> {
    let version = env!("CARGO_PKG_VERSION");
    Plugin::with_settings("nix", version, |settings: Settings| Ok(Nix::new(settings)))
        .tool(
            Tool::new("eval", "Evaluates a Nix expression, or an attribute of a flake, to JSON.", eval::eval)
                .title("Evaluate")
                .read_only()
                .open_world(true),
        )
        .tool(
            Tool::new("search", "Searches the packages of a flake by name and description.", search::search)
                .title("Search packages")
                .read_only()
                .open_world(true),
        )
        .tool(
            Tool::new("flake_metadata", "Says what a flake is: its revision, inputs and locks.", flake::metadata)
                .title("Metadata of a flake")
                .read_only()
                .open_world(true),
        )
        .tool(
            Tool::new("flake_show", "Says what a flake has: packages, modules, checks and so on.", flake::show)
                .title("Outputs of a flake")
                .read_only()
                .open_world(true),
        )
        .tool(
            Tool::new("build", "Builds an attribute of a flake, or an expression, into the store, and gives the paths. It links nothing.", build::build)
                .title("Build")
                .additive()
                .idempotent()
                .open_world(true),
        )
}

export!(plugin());

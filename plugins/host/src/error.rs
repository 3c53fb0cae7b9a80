//! Why a plugin is not served.

use std::{io, path::PathBuf, time::Duration};

use harness_plugin_abi::HARNESS_PLUGIN_ABI_VERSION;

/// Why a plugin is not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// There is no such file, or it cannot be looked at.
    #[error("cannot find {}: {source}", path.display())]
    Missing { path: PathBuf, source: io::Error },
    /// The dynamic linker does not take it.
    #[error("cannot load {}: {source}", path.display())]
    Load {
        path: PathBuf,
        source: libloading::Error,
    },
    /// It lacks a symbol.
    #[error("{} is no plugin: it does not export {symbol}; see harness_plugin.h", path.display())]
    NoPlugin { path: PathBuf, symbol: &'static str },
    /// It was built for another version of the interface.
    #[error(
        "the plugin was built for version {found} of the interface, and this host has version {}: rebuild it",
        HARNESS_PLUGIN_ABI_VERSION
    )]
    Version { found: u32 },
    /// Its table is not whole.
    #[error(
        "the plugin's table is not that of version {}: {fault}",
        HARNESS_PLUGIN_ABI_VERSION
    )]
    Table { fault: &'static str },
    /// A function of it has failed.
    #[error("the plugin's {function} failed: {message}")]
    Failed {
        function: &'static str,
        message: String,
    },
    /// What it says of itself cannot be used.
    #[error("the plugin's description is not right: {fault}")]
    Description { fault: String },
    /// Its settings are not what its schema allows.
    #[error("the settings are not right: {}", faults.join("; "))]
    Settings { faults: Vec<String> },
    /// It has taken too long.
    #[error("the plugin has not finished {doing} within {limit:?}")]
    Timeout {
        doing: &'static str,
        limit: Duration,
    },
    /// Streams and threads.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The description cannot be printed.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What this crate's functions give.
pub(crate) type Result<T> = std::result::Result<T, Error>;

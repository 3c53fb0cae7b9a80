//! The daemon's log, on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::{EnvFilter, fmt};

/// Sets the log up: `RUST_LOG` or `info`; without time and colour where the journal adds them.
pub fn init() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,rmcp=warn"));
    let builder = fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    let for_journal = std::env::var_os("JOURNAL_STREAM").is_some();
    // A second call in one process, in tests, changes nothing.
    let _already_set = if for_journal {
        builder.without_time().with_ansi(false).try_init()
    } else {
        builder
            .with_ansi(std::io::stderr().is_terminal())
            .try_init()
    };
}

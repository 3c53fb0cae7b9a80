//! Writing. Nothing is buffered beyond one call: a reader sees each line when it is there.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::error::Result;

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Writes one JSON document, for reading.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    print(&(text + "\n"))
}

/// Writes one line of JSON, for streams.
pub(crate) fn print_json_line(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::from)?;
    print(&(text + "\n"))
}

/// Writes a note for the person to standard error: not part of the result.
pub(crate) fn note(text: &str) {
    // Nobody is left to be told when standard error is closed.
    writeln!(io::stderr().lock(), "{text}").ok();
}

//! A `tools` command line: what it asks for, and with which input.
//!
//! The same reading serves the command itself and the plan of a script, so that what a plan says is what
//! the command does.

mod input;
mod typing;
mod words;

pub use input::{Input, InputSource};
pub use words::{Invocation, Tools, read};

/// Whether two names are one where hyphens and underscores are the same.
#[must_use]
pub fn is_same_name(one: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    one.len() == other.len() && one.bytes().map(plain).eq(other.bytes().map(plain))
}

#[cfg(test)]
pub(crate) mod tests;

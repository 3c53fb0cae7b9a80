//! Publishing as its callers see it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on panics, in its supporting functions too"
)]

mod bell;
mod bus;
mod resume;
mod support;
mod trace;

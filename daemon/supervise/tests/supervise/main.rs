//! The engine against a scripted owner of processes and a scripted record, on a paused clock; the
//! pure parts against systemd; the output functions on real files.

#![expect(
    clippy::unwrap_used,
    clippy::similar_names,
    reason = "what is not there fails the test"
)]

mod adopt;
mod cells;
mod life;
mod machine;
mod output;
mod record;
mod restart;
mod support;
mod waits;

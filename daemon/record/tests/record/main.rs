//! The record as its callers see it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on panics, in its supporting functions too"
)]

mod approvals;
mod calls;
mod concurrency;
mod crash;
mod ratings;
mod small_disk;
mod support;
mod units;
mod wakes;

//! The client side against servers that say exactly what a test wants them to, and against this crate's own front.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

#[path = "../front/backend.rs"]
#[expect(dead_code, reason = "only a part of the fake harness is asked here")]
mod backend;
mod http;
mod own_front;
mod pipes;
mod script;
